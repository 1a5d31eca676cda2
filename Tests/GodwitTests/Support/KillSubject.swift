import Foundation
import GodwitStorage

/// Runs Tests/KillSubject.
enum KillSubject {
  static var path: String {
    let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
    return (own as NSString).deletingLastPathComponent + "/kill-subject"
  }

  /// Runs it to its end under a umask; returns its exit status.
  static func run(_ arguments: [String], umask: String) async throws -> Int32 {
    try await BlockingThread.run {
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/bin/sh")
      process.arguments = ["-c", "umask \(umask); exec \"$0\" \"$@\"", path] + arguments
      try process.run()
      process.waitUntilExit()
      return process.terminationStatus
    }
  }

  /// Runs the body once it has made so many steps, and kills it then.
  static func during<Output: Sendable>(
    _ arguments: [String], after steps: Int, _ body: () async -> Output
  ) async throws -> Output {
    let process = Process()
    _ = try await BlockingThread.run { try start(process, arguments, after: steps) }
    let result = await body()
    Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    return result
  }

  /// Returns once it has made so many steps, or has ended: how many it made, and where it reports more.
  private static func start(
    _ process: Process, _ arguments: [String], after steps: Int
  ) throws -> (made: Int, output: Pipe) {
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    process.standardOutput = output
    try process.run()
    var made = 0
    while made < steps {
      let bytes = output.fileHandleForReading.availableData
      guard !bytes.isEmpty else { break }
      made += bytes.count
    }
    return (made, output)
  }

  /// Kills it once it has made so many steps, or lets it end before; returns the steps it made.
  @discardableResult
  static func kill(
    _ arguments: [String], after steps: Int, andMicroseconds microseconds: UInt32 = 0
  ) async throws -> Int {
    try await BlockingThread.run {
      let process = Process()
      let (made, output) = try start(process, arguments, after: steps)
      if microseconds > 0 { usleep(microseconds) }
      Foundation.kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
      // What it did before the signal came.
      return made + output.fileHandleForReading.readDataToEndOfFile().count
    }
  }
}
