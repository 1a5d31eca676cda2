import Foundation
import TestServers
import Testing

/// An sshd on loopback whose commands run as on one machine.
private final class SSHServer {
  static let program = "/usr/sbin/sshd"
  static var isHere: Bool { geteuid() == 0 && FileManager.default.isExecutableFile(atPath: program) }

  let server: LocalServer
  let folder: String

  /// - Parameter path: Where commands are looked for over there.
  init(of machine: Machine, path: String = "\(URL(fileURLWithPath: Program.path).deletingLastPathComponent().path)")
    throws
  {
    folder = machine.path("ssh")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try? FileManager.default.createDirectory(atPath: "/run/sshd", withIntermediateDirectories: true)
    for name in ["host", "client"] {
      let making = try machine.shell("ssh-keygen -q -t ed25519 -N '' -f '\(folder)/\(name)'")
      try #require(making.status == 0, "\(making.error)")
    }
    let lines = [
      "HostKey \(folder)/host", "PidFile \(folder)/pid", "StrictModes no", "UsePAM no", "ListenAddress 127.0.0.1",
      "AuthorizedKeysFile \(folder)/client.pub", "PasswordAuthentication no", "PermitRootLogin yes",
      "SetEnv PATH=\(path):/usr/bin:/bin XDG_CONFIG_HOME=\(machine.path("config")) HOME=\(machine.folder)",
    ]
    try Data(lines.joined(separator: "\n").utf8).write(to: URL(fileURLWithPath: "\(folder)/sshd"))
    let configuration = "\(folder)/sshd"
    // By a shell: sshd closes what Foundation finds a process's end by.
    let run = "\(Self.program) -D -e -f '\(configuration)' -p"
    server = try LocalServer("/bin/sh") { ["-c", "\(run) \($0); exit"] }
    let key = try String(contentsOfFile: "\(folder)/host.pub", encoding: .utf8)
    try Data("[127.0.0.1]:\(server.port) \(key)".utf8).write(to: URL(fileURLWithPath: "\(folder)/known"))
  }

  deinit {
    let pid = (try? String(contentsOfFile: "\(folder)/pid", encoding: .utf8)).flatMap { pid_t($0.dropLast()) }
    if let pid { kill(pid, SIGKILL) }
  }

  /// For `GODWIT_SSH`.
  var command: [String: String] {
    ["GODWIT_SSH": "ssh -F none -i \(folder)/client -o UserKnownHostsFile=\(folder)/known -o StrictHostKeyChecking=yes"]
  }

  func url(_ machine: Machine) -> String { "ssh://127.0.0.1:\(server.port)\(machine.folder)" }
}

/// `godwit sync` with a replica on another host.
@Suite struct SSHSyncTests {
  private func put(_ key: String, _ machine: Machine) throws {
    try #require(
      try machine.godwit("put", "todo", "--as", key, input: Data("{\"from\":\"\(machine.name)\"}".utf8)).status == 0)
  }

  /// A program for `GODWIT_SSH` that runs the command on that machine, with this behind it.
  private func fake(_ machine: Machine, _ behind: String, by other: Machine) throws -> [String: String] {
    let script = """
      #!/bin/sh
      for word; do last=$word; done
      export XDG_CONFIG_HOME='\(machine.path("config"))' PATH='\(URL(fileURLWithPath: Program.path).deletingLastPathComponent().path)':$PATH
      \(behind)
      """
    try other.write(Data(script.utf8), to: "fake-ssh")
    chmod(other.path("fake-ssh"), 0o700)
    return ["GODWIT_SSH": other.path("fake-ssh")]
  }

  @Test(.enabled(if: SSHServer.isHere, "there is no sshd, or this is not root"))
  func oneSyncBringsBothWhatTheyLack() async throws {
    let (desk, laptop) = try await Machine.pair()
    let ssh = try SSHServer(of: desk)
    for machine in [desk, laptop] { try put(machine.name, machine) }
    #expect(try laptop.godwit("remote", "add", "desk", ssh.url(desk)).status == 0)
    let outcome = try laptop.godwit("sync", environment: ssh.command)
    #expect(outcome.status == 0 && outcome.error.isEmpty, "\(outcome.error)")
    #expect(outcome.text.contains(" from desk, "), "\(outcome.text)")
    #expect(try laptop.digest() == desk.digest())
    // Each knows what the other holds.
    let again = try laptop.godwit("sync", environment: ssh.command)
    #expect(again.text.hasPrefix("desk: 0 applied (0 rows), 0 published"), "\(again.text)")
  }

  @Test(.enabled(if: SSHServer.isHere, "there is no sshd, or this is not root"))
  func aHostKeyThatChangedIsRefused() async throws {
    let (desk, laptop) = try await Machine.pair()
    let ssh = try SSHServer(of: desk)
    let other = try String(contentsOfFile: "\(ssh.folder)/client.pub", encoding: .utf8)
    try Data("[127.0.0.1]:\(ssh.server.port) \(other)".utf8).write(to: URL(fileURLWithPath: "\(ssh.folder)/known"))
    _ = try laptop.godwit("remote", "add", "desk", ssh.url(desk))
    let outcome = try laptop.godwit("sync", environment: ssh.command)
    #expect(outcome.status == 17 && outcome.error.contains("Host key verification failed"), "\(outcome.error)")
    #expect(outcome.error.contains("by itself: ssh -p \(ssh.server.port) "), "\(outcome.error)")
  }

  @Test(.enabled(if: SSHServer.isHere, "there is no sshd, or this is not root"))
  func aHostWithoutGodwitIsNamedWithWhatToInstall() async throws {
    let (desk, laptop) = try await Machine.pair()
    let ssh = try SSHServer(of: desk, path: "/nonexistent")
    _ = try laptop.godwit("remote", "add", "desk", ssh.url(desk))
    let outcome = try laptop.godwit("sync", environment: ssh.command)
    #expect(outcome.status == 17 && outcome.error.contains("install godwit there"), "\(outcome.error)")
  }

  @Test func aHostThatCannotBeReachedExitsWith16() async throws {
    let (_, laptop) = try await Machine.pair()
    _ = try laptop.godwit("remote", "add", "desk", "ssh://127.0.0.1:\(try LocalServer.freePort())/notes")
    let missing = try laptop.godwit("sync", environment: ["GODWIT_SSH": "/nonexistent/ssh"])
    #expect(missing.status == 16 && missing.error.contains("GODWIT_SSH"), "\(missing.error)")
  }

  @Test func whatSSHAndTheHostSayDecidesWhetherToTryLater() async throws {
    let (desk, laptop) = try await Machine.pair()
    _ = try laptop.godwit("remote", "add", "desk", "ssh://desk\(desk.folder)")
    let (noRoute, denied) = ("ssh: no route to host", "ada@desk: Permission denied (publickey).")
    let (locked, hint) = ("godwit: error: another process writes", "godwit: hint: wait for the backup")
    for (said, code, status, expected) in [
      (noRoute, 255, 16, noRoute), (denied, 255, 17, denied),
      ("Received disconnect: Too many authentication failures", 255, 17, "Too many"),
      ("Bad owner or permissions on /home/ada/.ssh/config", 255, 17, "Bad owner"),
      ("\(locked)\n\(hint)", 11, 16, "wait for the backup"), ("\(locked)\n\(hint)", 12, 17, "wait for the backup"),
      ("", 143, 16, "says nothing"), ("Use of command-line tools is logged.\\nConnection closed", 255, 16, "closed"),
    ] {
      let failing = try fake(desk, "printf '%s\\n' '\(said)' >&2; exit \(code)", by: laptop)
      let outcome = try laptop.godwit("sync", environment: failing)
      #expect(outcome.status == status && outcome.error.contains(expected), "\(said): \(outcome.error)")
    }
  }

  @Test func aShellsBannerIsPassedOverAndAnotherProgramIsNamed() async throws {
    let (desk, laptop) = try await Machine.pair()
    try put("a", desk)
    _ = try laptop.godwit("remote", "add", "desk", "ssh://desk\(desk.folder)")
    let banner = try fake(desk, "echo Welcome; echo GODWIT; exec sh -c \"$last\"", by: laptop)
    #expect(try laptop.godwit("sync", environment: banner).status == 0)
    #expect(try laptop.digest() == desk.digest())
    let other = try fake(desk, "echo 220 mail; exit 1", by: laptop)
    let outcome = try laptop.godwit("sync", environment: other)
    #expect(outcome.status == 17 && outcome.error.contains("220 mail"), "\(outcome.error)")
  }

  @Test func aCutConnectionLeavesBothWholeAndTheNextSyncContinues() async throws {
    let (desk, laptop) = try await Machine.pair()
    _ = try laptop.godwit("remote", "add", "desk", "ssh://desk\(desk.folder)")
    for (number, bytes) in [10, 60, 1_000, 2_000, 3_000, 4_000].enumerated() {
      try put("\(number)", desk)
      try put("\(number + 100)", laptop)
      let cut = try fake(
        desk, "exec setsid sh -c 'sh -c \"$0\" | (dd bs=1 count=\(bytes) status=none; kill -9 0)' \"$last\"", by: laptop
      )
      let broken = try laptop.godwit("sync", environment: cut)
      #expect([0, 16, 17].contains(broken.status), "\(bytes): \(broken.error)")
      for machine in [desk, laptop] { #expect(try machine.godwit("verify").status == 0) }
    }
    let whole = try fake(desk, "exec sh -c \"$last\"", by: laptop)
    let outcome = try laptop.godwit("sync", environment: whole)
    #expect(outcome.status == 0, "\(outcome.error)")
    #expect(try laptop.digest() == desk.digest())
    #expect(try laptop.godwit("get", "todo").lines.count == 12)
  }

  @Test func aConnectionThatBreaksIsNamedAsSSHNamesIt() async throws {
    let (desk, laptop) = try await Machine.pair()
    _ = try laptop.godwit("remote", "add", "desk", "ssh://desk\(desk.folder)")
    let piece = "setsid -w sh -c 'sh -c \"$0\" | (dd bs=1 count=100 status=none; kill -9 0)' \"$last\""
    let cut = try fake(desk, "\(piece); echo Broken pipe >&2; exit 255", by: laptop)
    let broken = try laptop.godwit("sync", environment: cut)
    #expect(broken.status == 16 && broken.error.contains("desk cannot be reached: Broken pipe"), "\(broken.error)")
    let other = try fake(desk, "echo GODWIT TALK 2; exec sleep 1000", by: laptop)
    let refused = try laptop.godwit("sync", environment: other)
    #expect(refused.status != 0 && refused.error.contains("talks in version 2"), "\(refused.error)")
  }

  @Test func aPathWithoutReplicaIsNamedAsTheOtherSideNamesIt() async throws {
    let (desk, laptop) = try await Machine.pair()
    _ = try laptop.godwit("remote", "add", "desk", "ssh://desk\(desk.path("nothing"))")
    let outcome = try laptop.godwit("sync", environment: fake(desk, "exec sh -c \"$last\"", by: laptop))
    #expect(outcome.status == 17 && outcome.error.contains("says: there is no replica in "), "\(outcome.error)")
    #expect(outcome.error.contains("see the path in the remote's URL"), "\(outcome.error)")
  }

  @Test func whatTheOtherSideRefusesIsSaidHere() async throws {
    let (desk, laptop) = try await Machine.pair()
    let stranger = try Machine("stranger")
    try #require(try stranger.godwit("init").status == 0)
    _ = try laptop.godwit("remote", "add", "desk", "ssh://desk\(stranger.folder)")
    let outcome = try laptop.godwit("sync", environment: fake(stranger, "exec sh -c \"$last\"", by: laptop))
    #expect(outcome.status != 0 && outcome.error.contains("another group"), "\(outcome.error)")
    let restricted = try desk.godwit("serve", "--stdio", desk.folder, "--restrict", laptop.folder)
    #expect(restricted.status == 17 && restricted.output.isEmpty, "\(restricted.error)")
    #expect(try desk.godwit("serve", desk.folder).status == 64)
    #expect(try desk.godwit("serve", "--stdio").status == 64)
    let garbage = try desk.godwit("serve", "--stdio", desk.folder, input: Data(repeating: 7, count: 10_000))
    #expect(garbage.status != 0 && !garbage.error.isEmpty, "\(garbage.error)")
  }

  @Test func aKeyMayBeHeldToTheReplicasOfAFolder() async throws {
    let (desk, laptop) = try await Machine.pair()
    try put("a", desk)
    _ = try laptop.godwit("remote", "add", "desk", "ssh://desk\(desk.folder)")
    // What sshd does with a command in authorized_keys.
    func held(to folder: String, askedFor: String = "$last") throws -> Outcome {
      let served = "exec godwit serve --stdio --restrict '\(folder)'"
      return try laptop.godwit(
        "sync", environment: fake(desk, "export SSH_ORIGINAL_COMMAND=\"\(askedFor)\"; \(served)", by: laptop))
    }
    let elsewhere = try held(to: laptop.folder)
    #expect(elsewhere.status == 17 && elsewhere.error.contains("this key may not reach"), "\(elsewhere.error)")
    for other in ["", "godwit export --all -", "godwit serve --stdio '/x'; id"] {
      let refused = try held(to: desk.folder, askedFor: other)
      #expect(refused.status == 17 && refused.error.contains("nobody has asked"), "\(refused.error)")
    }
    // What leads out of the folder, and a name that another spelling of it is not.
    let place = laptop.path("held")
    try FileManager.default.createDirectory(atPath: "\(place)/caf\u{e9}", withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(atPath: "\(place)/caf\u{e9}/link", withDestinationPath: desk.folder)
    for path in ["caf\u{e9}/link", "caf\u{e9}/../../held/caf\u{e9}/../link", "cafe\u{301}/x", "caf\u{e9}x"] {
      let asked = "godwit serve --stdio '\(place)/\(path)'"
      let refused = try held(to: "\(place)/caf\u{e9}", askedFor: asked)
      #expect(refused.status == 17 && refused.error.contains("this key may not reach"), "\(path): \(refused.error)")
    }
    let held = try held(to: URL(fileURLWithPath: desk.folder).deletingLastPathComponent().path)
    #expect(held.status == 0, "\(held.error)")
    #expect(try laptop.digest() == desk.digest())
  }

  @Test func whoOnlyReceivesSendsNothingAndTheOtherWayRound() async throws {
    for (flag, receiving, sending) in [("--receive-only", 1, 2), ("--send-only", 2, 1)] {
      let (desk, laptop) = try await Machine.pair()
      for machine in [desk, laptop] { try put(machine.name, machine) }
      _ = try laptop.godwit("remote", "add", "desk", "ssh://desk\(desk.folder)")
      let ssh = try fake(desk, "exec sh -c \"$last \(flag)\"", by: laptop)
      let outcome = try laptop.godwit("sync", environment: ssh)
      #expect(outcome.status == 0, "\(outcome.error)")
      #expect(try laptop.godwit("get", "todo").lines.count == receiving)
      #expect(try desk.godwit("get", "todo").lines.count == sending)
    }
  }

  @Test(arguments: [
    "ssh://-oProxyCommand=x/notes", "ssh://-l@host/notes", "ssh://u:hunter2@host/notes", "ssh://host",
    "ssh://host/a?b=hunter2",
    "ssh://host/a%0Ab",
  ])
  func whatSSHWouldTakeForAnOptionIsRefused(url: String) async throws {
    let desk = try Machine("desk")
    try #require(try desk.godwit("init").status == 0)
    let outcome = try desk.godwit("remote", "add", "x", url)
    #expect(outcome.status == 1 && !outcome.error.contains("hunter2"), "\(outcome.error)")
  }
}
