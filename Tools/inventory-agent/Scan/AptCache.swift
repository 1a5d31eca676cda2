import Foundation
import Godwit

/// A running `apt-cache dumpavail`, which prints the candidate version of every package that apt knows.
struct AptCache {
  static let defaultPath = "/usr/bin/apt-cache"

  private let process = Process()
  private let output = Pipe()

  /// Starts it.
  init(path: String = defaultPath) throws {
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = ["dumpavail"]
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    do {
      try process.run()
    } catch {
      throw GodwitError(
        .aptFailed, "cannot run \(path)",
        hint: "scan without --available, or name a list of packages with --available-file", underlying: error)
    }
  }

  /// The bytes that follow, none at the end.
  func nextChunk() throws -> [UInt8] {
    Array(try output.fileHandleForReading.read(upToCount: 65_536) ?? Data())
  }

  /// Makes sure that what was read is all there was to say.
  func finish() throws {
    process.waitUntilExit()
    guard process.terminationReason == .exit, process.terminationStatus == 0 else {
      throw GodwitError(
        .aptFailed, "apt-cache dumpavail failed with status \(process.terminationStatus)",
        hint: "its own message is above; often this helps: apt-get update")
    }
  }

  /// Ends it, wherever it is.
  func stop() {
    if process.isRunning { process.terminate() }
  }
}
