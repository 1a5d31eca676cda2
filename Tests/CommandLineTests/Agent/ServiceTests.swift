import Foundation
import TestFolders
import Testing

/// Specs/agent.md, "systemd" and "The agent": what systemd is informed of, and an agent without work.
@Suite("The agent as a service")
struct ServiceTests {
  /// A socket that takes datagrams, as systemd has one.
  private func listen(at path: String) throws -> Int32 {
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let isBound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
      }
    }
    try #require(isBound)
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    return descriptor
  }

  /// What has come since the last time.
  private func received(_ descriptor: Int32) -> String {
    var text = ""
    var bytes = [UInt8](repeating: 0, count: 4096)
    while case let count = recv(descriptor, &bytes, bytes.count, 0), count > 0 {
      text += String(decoding: bytes.prefix(count), as: UTF8.self) + "\n"
    }
    return text
  }

  @Test("ready, alive, reloading, stopping; and lines with priorities")
  func notifies() async throws {
    let desk = try Machine("desk")
    try #require(try desk.godwit("init").status == 0)
    // A remote that fails, of which the library warns, too.
    let gone = desk.path("gone")
    try FileManager.default.createDirectory(atPath: gone, withIntermediateDirectories: true)
    try #require(try desk.godwit("remote", "add", "stick", gone).status == 0)
    try FileManager.default.removeItem(atPath: gone)
    let path = desk.path("notify")
    let descriptor = try listen(at: path)
    defer { close(descriptor) }
    let agent = try await RunningAgent(
      desk,
      environment: [
        "NOTIFY_SOCKET": path, "WATCHDOG_USEC": "400000", "JOURNAL_STREAM": try RunningAgent.journalStream(of: desk),
      ])
    #expect(received(descriptor).contains("READY=1\nSTATUS=1 replica"))
    for _ in 0..<2 { try await Patience.until { received(descriptor).contains("WATCHDOG=1\nSTATUS=1 replica") } }
    agent.send(SIGHUP)
    var all = ""
    try await Patience.until {
      all += received(descriptor)
      return all.contains("RELOADING=1\nMONOTONIC_USEC=") && all.contains("READY=1")
    }
    agent.send(SIGTERM)
    #expect(agent.finish() == 0)
    #expect(received(descriptor).contains("STOPPING=1"))
    let lines = try agent.journal().split(separator: "\n")
    #expect(lines.allSatisfy { $0.hasPrefix("<6>event=") || $0.hasPrefix("<4>event=failed replica=") }, "\(lines)")
    #expect(lines.contains { $0.contains("remote=stick code=unreachable") && $0.contains("hint=") }, "\(lines)")
  }

  @Test("an agent whose errors are not the journal's, though somebody's above it are, writes the time")
  func inherited() async throws {
    let desk = try Machine("desk")
    try #require(try desk.godwit("init").status == 0)
    let agent = try await RunningAgent(desk, environment: ["JOURNAL_STREAM": "1:2"])
    agent.send(SIGTERM)
    #expect(agent.finish() == 0)
    let lines = try agent.journal().split(separator: "\n")
    #expect(lines.contains { $0.contains("event=ready") } && lines.allSatisfy { !$0.hasPrefix("<") }, "\(lines)")
  }

  @Test(
    "an agent that syncs and finds nothing writes nothing",
    .enabled(if: FileManager.default.isExecutableFile(atPath: SystemCalls.program)))
  func idle() async throws {
    let (desk, laptop) = try await Machine.pair()
    let remote = desk.path("remote")
    try FileManager.default.createDirectory(atPath: remote, withIntermediateDirectories: true)
    for machine in [desk, laptop] { try #require(try machine.godwit("remote", "add", "stick", remote).status == 0) }
    for machine in [desk, laptop, desk, laptop, desk] { try #require(try machine.godwit("sync").status == 0) }
    let trace = desk.path("trace")
    let agent = try await RunningAgent(desk, traced: trace)
    func syncs() throws -> Int {
      let replicas = try agent.status("--json").objects().first?["replicas"] as? [[String: Any]]
      return ((replicas?.first?["remotes"] as? [[String: Any]])?.first?["syncs"] as? Int) ?? 0
    }
    try await Patience.until { try syncs() >= 4 }
    agent.send(SIGTERM)
    _ = agent.finish()
    let calls = try SystemCalls(log: trace).calls.filter { !$0.hasFailed }
    let ready = try #require(calls.firstIndex { $0.name == "write" && $0.text.contains(Self.encoded("event=ready")) })
    let end = try #require(calls.firstIndex { $0.name == "write" && $0.text.contains(Self.encoded("event=stopping")) })
    let writing = calls[ready..<end].filter { call in
      guard ["write", "pwrite64", "writev", "pwritev", "pwritev2"].contains(call.name) else {
        return call.name.hasPrefix("rename") || call.name.hasPrefix("link") || call.name.hasPrefix("mkdir")
      }
      // The descriptor stands first.
      let path = call.text.prefix { $0 != "," }
      return path.contains(Self.encoded(desk.folder)) && !path.contains(Self.encoded("agent.log"))
    }
    #expect(writing.isEmpty, "\(writing.map { "\($0.name)\($0.text.prefix(300))" })")
  }

  private static func encoded(_ text: String) -> String {
    text.utf8.map { "\\x" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}
