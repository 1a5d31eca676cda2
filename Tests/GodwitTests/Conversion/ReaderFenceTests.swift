import Foundation
import GodwitStorage
import Testing

@Suite("The fence of a process that reads a database", .timeLimit(.minutes(2)))
struct ReaderFenceTests {
  private static func run(_ deed: String) async throws -> (reason: Process.TerminationReason, status: Int32) {
    try await BlockingThread.run {
      let process = Process()
      process.executableURL = URL(fileURLWithPath: KillSubject.path)
      process.arguments = ["fence", deed]
      process.standardOutput = FileHandle.nullDevice
      try process.run()
      process.waitUntilExit()
      return (process.terminationReason, process.terminationStatus)
    }
  }

  @Test("lets it read what is open already", arguments: ["nothing", "read"])
  func allowed(deed: String) async throws {
    let (reason, status) = try await Self.run(deed)
    #expect(reason == .exit && status == 0)
  }

  @Test(
    "lets it open no file, write to none, make no code and take no more memory",
    arguments: [
      ("open", ENOENT), ("write before", EPERM), ("print", EPERM), ("code", EPERM), ("memory", ENOMEM),
    ])
  func refused(deed: String, expected: Int32) async throws {
    let (reason, status) = try await Self.run(deed)
    #expect(reason == .exit && status == expected, "\(reason) \(status)")
  }

  @Test(
    "ends it when it connects, starts another or sends a signal, and when its time is over",
    arguments: [("socket", SIGSYS), ("fork", SIGSYS), ("exec", SIGSYS), ("kill", SIGSYS), ("time", SIGXCPU)])
  func ended(deed: String, signal: Int32) async throws {
    let (reason, status) = try await Self.run(deed)
    #expect(reason == .uncaughtSignal && status == signal, "\(reason) \(status)")
  }
}
