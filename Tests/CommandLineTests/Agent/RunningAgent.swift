import Foundation
import TestFolders
import TestServers
import Testing

/// A `godwit agent run` that is under way.
final class RunningAgent: Sendable {
  let machine: Machine
  let socket: String
  private let process: Process
  private let log: String
  private let isTraced: Bool

  /// Starts it, and waits until it is ready.
  init(
    _ machine: Machine, _ arguments: [String] = [], environment: [String: String] = [:], traced: String? = nil
  ) async throws {
    self.machine = machine
    socket = machine.path("agent.sock")
    log = machine.path("agent.log")
    isTraced = traced != nil
    try Data().write(to: URL(fileURLWithPath: log))
    let words = ["agent", "run", "--socket", socket, "--every", "1"] + arguments
    process = machine.process(words, environment: environment)
    if let traced {
      process.executableURL = URL(fileURLWithPath: SystemCalls.program)
      process.arguments = SystemCalls.arguments(log: traced, [Program.path] + words)
    }
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle(forWritingAtPath: log)
    try process.run()
    let process = process
    try await Patience.until { try self.journal().contains("event=ready") || !process.isRunning }
    let written = try journal()
    try #require(process.isRunning, "\(written)")
  }

  /// What systemd would set for who writes to the file that an agent of this machine will.
  static func journalStream(of machine: Machine) throws -> String {
    let log = machine.path("agent.log")
    try Data().write(to: URL(fileURLWithPath: log))
    var status = stat()
    try #require(stat(log, &status) == 0)
    return "\(status.st_dev):\(status.st_ino)"
  }

  deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

  var identifier: pid_t { process.processIdentifier }

  func journal() throws -> String { try String(contentsOfFile: log, encoding: .utf8) }

  func status(_ options: String...) throws -> Outcome {
    try machine.run(["agent", "status", "--socket", socket] + options)
  }

  /// To the agent itself, also where strace has started it.
  func send(_ signal: Int32) {
    let own = process.processIdentifier
    let children = try? String(contentsOfFile: "/proc/\(own)/task/\(own)/children", encoding: .utf8)
    let child = isTraced ? children?.split(separator: " ").first.flatMap { pid_t($0) } : nil
    kill(child ?? own, signal)
  }

  /// Waits for its end; the status, or the signal that ended it, negative.
  func finish() -> Int32 {
    process.waitUntilExit()
    return process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
  }
}

extension LoopbackSocket {
  /// A page of a server's on this machine, with its head, as a browser or Prometheus asks for it.
  static func page(_ path: String, _ port: Int, host: String = "localhost") throws -> String {
    let socket = try LoopbackSocket(connectingTo: port)
    defer { socket.close() }
    try #require(socket.write(Array("GET \(path) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n".utf8)))
    var answer: [UInt8] = []
    while case let bytes = socket.read(), !bytes.isEmpty { answer += bytes }
    return String(decoding: answer, as: UTF8.self)
  }
}
