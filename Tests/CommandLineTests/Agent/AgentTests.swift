import Foundation
import TestFolders
import TestServers
import Testing

/// Specs/agent.md, "The agent", with the real program.
@Suite("The agent")
struct AgentTests {
  /// Two machines with a remote that both reach.
  private func pair() async throws -> (desk: Machine, laptop: Machine, remote: String) {
    let (desk, laptop) = try await Machine.pair()
    let remote = "\(desk.folder)/remote"
    try FileManager.default.createDirectory(atPath: remote, withIntermediateDirectories: true)
    for machine in [desk, laptop] { try #require(try machine.godwit("remote", "add", "stick", remote).status == 0) }
    return (desk, laptop, remote)
  }

  @Test("what any process writes goes out, what others publish comes in, and it says that all is well")
  func syncs() async throws {
    let (desk, laptop, _) = try await pair()
    let agent = try await RunningAgent(desk)
    #expect(try desk.godwit("put", "todo", "--as", "1", input: Data("{}".utf8)).status == 0)
    try await Patience.until { try laptop.godwit("sync").status == 0 && laptop.godwit("get", "todo").lines.count == 1 }
    #expect(try laptop.godwit("put", "todo", "--as", "2", input: Data("{}".utf8)).status == 0)
    #expect(try laptop.godwit("sync").status == 0)
    try await Patience.until { try desk.godwit("get", "todo").lines.count == 2 }
    let status = try agent.status()
    #expect(status.status == 0 && status.text.contains("stick: synced"), "\(status.text)")
    let object = try #require(try agent.status("--json").objects().first)
    #expect(object["well"] as? Bool == true)
    let journal = try agent.journal()
    #expect(journal.contains("event=synced replica=\(desk.replica) remote=stick message=\"stick: "), "\(journal)")
    agent.send(SIGTERM)
    #expect(agent.finish() == 0)
    #expect(try desk.godwit("verify").status == 0)
    #expect(try agent.status().status == 2)
  }

  @Test("one that fails is said once, with what to do, and keeps no other from its turn")
  func oneFails() async throws {
    let (desk, laptop, remote) = try await pair()
    let other = try Machine("other")
    try #require(try other.godwit("init").status == 0)
    // A replica whose key this machine does not have, and a place where none is yet; one is named twice.
    let later = desk.path("later")
    let agent = try await RunningAgent(desk, [desk.folder, other.folder, later, desk.replica])
    #expect(try desk.godwit("put", "todo", "--as", "1", input: Data("{}".utf8)).status == 0)
    try await Patience.until { try laptop.godwit("sync").status == 0 && laptop.godwit("get", "todo").lines.count == 1 }
    var status = try agent.status()
    #expect(status.status == 1 && status.text.contains("\(other.replica): noKeyFits since"), "\(status.text)")
    #expect(status.text.contains("\(later)/.godwit: noReplica since"), "\(status.text)")
    #expect(try agent.journal().contains("event=failed replica=\(other.replica) code=noKeyFits"))
    #expect(try agent.status("--json").objects().flatMap { $0["replicas"] as? [Any] ?? [] }.count == 3)

    try FileManager.default.moveItem(atPath: remote, toPath: "\(remote)-away")
    try await Patience.until { try agent.journal().contains("remote=stick code=unreachable") }
    status = try agent.status()
    #expect(
      status.text.contains("stick: unreachable since") && status.text.contains("(mount what it lies on"),
      "\(status.text)")
    try FileManager.default.moveItem(atPath: "\(remote)-away", toPath: remote)
    try await Patience.until { try agent.journal().contains("event=recovered") }
    #expect(try agent.journal().components(separatedBy: "event=failed replica=\(desk.replica)").count == 2)
  }

  @Test("SIGHUP reads keys anew, and counters stay")
  func reloads() async throws {
    let (desk, _, _) = try await pair()
    let other = try Machine("other")
    try #require(try other.godwit("init").status == 0)
    let agent = try await RunningAgent(desk, [desk.folder, other.folder])
    try await Patience.until { try agent.status().text.contains("stick: synced") }
    func syncs() throws -> Int {
      let replicas = try agent.status("--json").objects().first?["replicas"] as? [[String: Any]]
      return ((replicas?.first?["remotes"] as? [[String: Any]])?.first?["syncs"] as? Int) ?? 0
    }
    try await Patience.until { try syncs() >= 5 }
    let before = try syncs()
    // Its key is put where the agent looks for the other's, which is not looked at before the signal.
    try FileManager.default.moveItem(atPath: desk.machineKey, toPath: "\(desk.machineKey)-away")
    try FileManager.default.copyItem(atPath: other.machineKey, toPath: desk.machineKey)
    #expect(try agent.status().text.contains("\(other.replica): noKeyFits"))
    agent.send(SIGHUP)
    try await Patience.until { try agent.status().text.contains("\(desk.replica): noKeyFits") }
    try await Patience.until {
      let text = try agent.status().text
      return text.contains("\(other.replica): ") && !text.contains("\(other.replica): noKeyFits")
    }
    // None opens, which ends an agent at its start alone.
    try FileManager.default.removeItem(atPath: desk.machineKey)
    agent.send(SIGHUP)
    try await Patience.until { try agent.status().text.components(separatedBy: "noKeyFits").count == 3 }
    try FileManager.default.moveItem(atPath: "\(desk.machineKey)-away", toPath: desk.machineKey)
    agent.send(SIGHUP)
    try await Patience.until { try agent.status().text.contains("stick: synced") }
    #expect(try syncs() >= before)
    agent.send(SIGINT)
    #expect(agent.finish() == 0)
  }

  @Test("SIGTERM ends it while a host says nothing")
  func endsInTime() async throws {
    let desk = try Machine("desk")
    try #require(try desk.godwit("init").status == 0)
    try #require(try desk.godwit("remote", "add", "host", "ssh://host/notes").status == 0)
    let (ssh, begun) = (desk.path("ssh"), desk.path("begun"))
    try desk.write(Data("#!/bin/sh\ntouch \(begun)\nexec sleep 600\n".utf8), to: "ssh")
    chmod(ssh, 0o700)
    let agent = try await RunningAgent(desk, environment: ["GODWIT_SSH": ssh])
    try await Patience.until { FileManager.default.fileExists(atPath: begun) }
    let start = ContinuousClock.now
    agent.send(SIGTERM)
    #expect(agent.finish() == 0)
    #expect(.now - start < .seconds(14), "it took the patience that is for the worst")
    #expect(try desk.godwit("verify").status == 0)
  }

  @Test("there is one agent at a socket; one that was killed leaves none")
  func oneAtASocket() async throws {
    let (desk, _, _) = try await pair()
    let agent = try await RunningAgent(desk)
    let second = try desk.run(["agent", "run", "--socket", agent.socket])
    #expect(second.status == 11 && second.error.contains("an agent answers at"), "\(second.error)")
    agent.send(SIGKILL)
    #expect(agent.finish() == -SIGKILL)
    #expect(try agent.status().status == 2)
    let next = try await RunningAgent(desk)
    #expect(try next.status().status == 0)
    try Data().write(to: URL(fileURLWithPath: desk.path("file")))
    let taken = try LoopbackSocket(listeningAt: 0)
    defer { taken.close() }
    let other = try desk.run(["agent", "run", "--socket", desk.path("other"), "--listen", "\(taken.port)"])
    #expect(other.status == 1 && other.error.contains("it is taken"), "\(other.error)")
    #expect(!FileManager.default.fileExists(atPath: desk.path("other")))
    let file = try desk.run(["agent", "run", "--socket", desk.path("file")])
    #expect(file.status == 1 && file.error.contains("no socket"), "\(file.error)")
  }

  @Test("Prometheus and browsers: pages by TCP, for this machine's own names alone")
  func pages() async throws {
    let (desk, _, _) = try await pair()
    let port = try LocalServer.freePort()
    let agent = try await RunningAgent(desk, ["--listen", "\(port)"])
    try await Patience.until { try agent.status().text.contains("stick: synced") }
    let metrics = try LoopbackSocket.page("/metrics", port)
    #expect(metrics.hasPrefix("HTTP/1.1 200") && metrics.contains("text/plain; version=0.0.4"))
    #expect(metrics.contains("godwit_replica_open{replica=\"\(desk.replica)\"} 1\n"))
    #expect(metrics.contains("operation=\"list\",result=\"ok\"} "))
    #expect(try LoopbackSocket.page("/healthz", port).hasSuffix("ok\n"))
    #expect(try LoopbackSocket.page("/status", port, host: "127.0.0.1:\(port)").contains("\"well\":true"))
    #expect(try LoopbackSocket.page("/metrics", port, host: "attacker.example").hasPrefix("HTTP/1.1 403"))
    #expect(try LoopbackSocket.page("/../../etc/passwd", port).hasPrefix("HTTP/1.1 404"))
    let mode = try FileManager.default.attributesOfItem(atPath: agent.socket)[.posixPermissions] as? Int
    #expect(mode == 0o660)
  }

  @Test(
    "what makes no sense is refused",
    arguments: [
      ["--every", "0"], ["--listen", "70000"], ["--listen", "example.org:1"], ["-C", "a", "b"],
    ])
  func refusals(options: [String]) throws {
    let machine = try Machine("agent")
    let result = try machine.run(["agent", "run"] + options)
    #expect(result.status == 64, "\(result.error)")
  }

  @Test("without any replica that opens it ends with what is wrong")
  func nothingOpens() throws {
    let machine = try Machine("agent")
    let socket = machine.path("agent.sock")
    #expect(try machine.run(["agent", "run", "--socket", socket]).status == 10)
    try #require(try machine.godwit("init").status == 0)
    try FileManager.default.removeItem(atPath: machine.machineKey)
    let result = try machine.run(["agent", "run", "--socket", socket])
    #expect(result.status == 12 && result.error.contains("hint:"), "\(result.error)")
    #expect(!FileManager.default.fileExists(atPath: socket))
  }
}
