import Foundation
import Testing

@Suite("A crash", .timeLimit(.minutes(2)))
struct CrashReportTests {
  private func crash(_ how: String) throws -> (reason: Process.TerminationReason, error: String) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: KillSubject.path)
    process.arguments = ["trap", how]
    // Whatever this run's environment says: backtraces are on by default.
    process.environment = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=yes"]) { $1 }
    let error = Pipe()
    process.standardError = error
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    let shown = String(decoding: error.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationReason, shown)
  }

  @Test("of a program that protects its secrets shows no registers and no memory")
  func quiet() throws {
    let outcome = try crash("protected")
    #expect(outcome.reason == .uncaughtSignal)
    #expect(outcome.error.contains("Index out of range"))
    for word in ["Registers", "Backtrac", "0x0"] { #expect(!outcome.error.contains(word), "\(outcome.error)") }
  }
}
