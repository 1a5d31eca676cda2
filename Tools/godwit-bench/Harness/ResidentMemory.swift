import Foundation
import Godwit
import GodwitStorage

/// The greatest resident memory of an import, taken in a process of its own: this one has seen other work.
enum ResidentMemory {
  /// Runs this program anew with `--import-at`, and returns what it prints, in MiB.
  static func ofImport(_ file: String, into folder: String) async throws -> Double {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = ["--import-at", folder, "--import-file", file]
    let output = Pipe()
    process.standardOutput = output
    let bytes = try await BlockingThread.run {
      try process.run()
      let bytes = output.fileHandleForReading.readDataToEndOfFile()
      process.waitUntilExit()
      return bytes
    }
    let text = String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    guard let kilobytes = Int(text) else {
      throw GodwitError(.invalidArgument, "the import in a process of its own failed")
    }
    return Double(kilobytes) / 1_024
  }

  /// What the other process does: imports, and prints its greatest resident memory in kibibytes, as Linux counts it.
  static func runImport(_ file: String, into folder: String) async throws {
    let replica = try await Replica.open(existing: folder)
    _ = try await replica.import(from: .file(file))
    await replica.close()
    print(try kibibytes("VmHWM:"))
  }

  /// By how many MiB this process's resident memory grows at most while the body runs (proc(5), clear_refs).
  static func growth(of body: () async throws -> Void) async throws -> Double {
    let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: "/proc/self/clear_refs"))
    try handle.write(contentsOf: Data("5".utf8))
    try handle.close()
    let before = try kibibytes("VmHWM:")
    try await body()
    return Double(try kibibytes("VmHWM:") - before) / 1_024
  }

  /// What Linux counts, by its name in proc(5).
  private static func kibibytes(_ name: String) throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix(name) }
    guard let number = line?.split(whereSeparator: { !$0.isNumber }).first.flatMap({ Int($0) }) else {
      throw GodwitError(.invalidArgument, "the system does not say how much memory this process has")
    }
    return number
  }
}
