import Foundation
import TestFolders
import TestServers
import Testing

/// A `godwit serve --socket` that is under way.
private final class SocketServer {
  let socket: String
  private let process: Process
  private let log: String

  init(_ machine: Machine, _ arguments: String...) async throws {
    socket = machine.path("talk.sock")
    log = machine.path("serve.log")
    try Data().write(to: URL(fileURLWithPath: log))
    process = machine.process(["serve", "--socket", socket, machine.folder] + arguments)
    process.standardError = FileHandle(forWritingAtPath: log)
    try process.run()
    let process = process
    try await Patience.until { try self.said().contains("listening at \(self.socket)\n") || !process.isRunning }
    let said = try said()
    try #require(process.isRunning, "\(said)")
  }

  deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

  func said() throws -> String { try String(contentsOfFile: log, encoding: .utf8) }

  /// Returns the status, or the signal that ended it, negative.
  func end(by signal: Int32) -> Int32 {
    kill(process.processIdentifier, signal)
    process.waitUntilExit()
    return process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
  }
}

/// `godwit sync` with a replica that is served at a Unix socket.
@Suite struct SocketSyncTests {
  private func put(_ key: String, _ machine: Machine) throws {
    try #require(
      try machine.godwit("put", "todo", "--as", key, input: Data("{\"from\":\"\(machine.name)\"}".utf8)).status == 0)
  }

  @Test func syncsBringBothWhatTheyLackAsOftenAsTheyAreAskedTo() async throws {
    let (desk, laptop) = try await Machine.pair()
    let server = try await SocketServer(desk)
    let mode = try FileManager.default.attributesOfItem(atPath: server.socket)[.posixPermissions] as? Int
    #expect(mode == 0o660)
    #expect(try laptop.godwit("remote", "add", "desk", "unix://\(server.socket)").status == 0)
    for round in ["a", "b"] {
      for machine in [desk, laptop] { try put("\(machine.name)-\(round)", machine) }
      let outcome = try laptop.godwit("sync")
      #expect(outcome.status == 0 && outcome.error.isEmpty, "\(outcome.error)")
      #expect(try laptop.digest() == desk.digest())
    }
    #expect(try laptop.godwit("get", "todo").lines.count == 4)
    #expect(server.end(by: SIGINT) == 0)
    #expect(!FileManager.default.fileExists(atPath: server.socket))
    let outcome = try laptop.godwit("sync")
    #expect(outcome.status == 16 && outcome.error.contains("nobody answers at \(server.socket)"), "\(outcome.error)")
    #expect(outcome.error.contains("godwit serve --socket \(server.socket)"), "\(outcome.error)")
  }

  @Test func thereIsOneServerAtASocketAndAKilledOneLeavesNone() async throws {
    let (desk, laptop) = try await Machine.pair()
    let server = try await SocketServer(desk)
    let second = try desk.godwit("serve", "--socket", server.socket, desk.folder)
    #expect(second.status == 11 && second.error.contains("another process answers"), "\(second.error)")
    #expect(server.end(by: SIGKILL) == -SIGKILL)
    #expect(FileManager.default.fileExists(atPath: server.socket))
    let next = try await SocketServer(desk)
    _ = try laptop.godwit("remote", "add", "desk", "unix://\(next.socket)")
    #expect(try laptop.godwit("sync").status == 0)
    try Data().write(to: URL(fileURLWithPath: desk.path("file")))
    let file = try desk.godwit("serve", "--socket", desk.path("file"), desk.folder)
    #expect(file.status == 1 && file.error.contains("no socket"), "\(file.error)")
    let long = desk.path(String(repeating: "x", count: 108))
    #expect(try desk.godwit("serve", "--socket", long, desk.folder).error.contains("107 bytes"))
    #expect(try desk.godwit("serve", "--socket", server.socket, "--stdio", desk.folder).status == 64)
  }

  @Test func whoIsNoMemberIsRefusedOnBothSides() async throws {
    let (desk, _) = try await Machine.pair()
    let server = try await SocketServer(desk)
    let stranger = try Machine("stranger")
    try #require(try stranger.godwit("init").status == 0)
    _ = try stranger.godwit("remote", "add", "desk", "unix://\(server.socket)")
    let outcome = try stranger.godwit("sync")
    #expect(outcome.status != 0 && outcome.error.contains("another group"), "\(outcome.error)")
    try await Patience.until { try server.said().contains("a talk ended early: the replica there is another group's") }
  }
}
