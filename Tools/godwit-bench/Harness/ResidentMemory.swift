import Foundation
import Godwit
import GodwitStorage

/// The greatest resident memory of an import, taken in a process of its own: this one has seen other work.
enum ResidentMemory {
  /// What an import took.
  struct Cost {
    let mebibytes: Double
    let milliseconds: Double
  }

  /// Where this program lies.
  static var program: String { URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().path }

  /// Runs this program anew with `--import-at`, and returns what it prints.
  static func ofImport(_ file: String, into folder: String, mayBeRefused: Bool = false) async throws -> Cost {
    let numbers = try await numbers(
      ["--import-at", folder, "--import-file", file] + (mayBeRefused ? ["--import-may-be-refused"] : []), count: 2)
    return Cost(mebibytes: numbers[0] / 1_024, milliseconds: numbers[1])
  }

  /// What a sync added to the memory of a process that has opened the replica, and what it moved.
  struct SyncCost {
    let mebibytes: Double
    let publishedStateBytes: Int
    /// The rows of a state that was taken.
    let takenRows: Int
  }

  /// Runs this program anew with `--sync-at`, which syncs with all remotes.
  static func ofSync(at folder: String) async throws -> SyncCost {
    let numbers = try await numbers(["--sync-at", folder], count: 3)
    return SyncCost(mebibytes: numbers[0], publishedStateBytes: Int(numbers[1]), takenRows: Int(numbers[2]))
  }

  /// The numbers that this program prints in another process.
  private static func numbers(_ arguments: [String], count: Int) async throws -> [Double] {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    let output = Pipe()
    process.standardOutput = output
    let bytes = try await BlockingThread.run {
      try process.run()
      let bytes = output.fileHandleForReading.readDataToEndOfFile()
      process.waitUntilExit()
      return bytes
    }
    let numbers = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
    guard numbers.count == count else {
      throw GodwitError(.invalidArgument, "what ran in a process of its own failed: \(arguments[0])")
    }
    return numbers
  }

  /// What the other process does: imports, and prints its greatest resident memory in kibibytes, as Linux counts it,
  /// and the import's milliseconds.
  static func runImport(_ file: String, into folder: String, mayBeRefused: Bool) async throws {
    let replica = try await Replica.open(at: folder, configuration: .init(mustExist: true))
    let duration = try await ContinuousClock().measure {
      do {
        _ = try await replica.import(from: file == "-" ? .standardInput : .file(file))
      } catch is GodwitError where mayBeRefused {
        // What refusing it takes counts.
      }
    }
    await replica.close()
    print(try kibibytes("VmHWM:"), duration / .milliseconds(1))
  }

  /// What the other process does for ``ofSync(at:)``.
  static func runSync(at folder: String) async throws {
    let replica = try await Replica.open(at: folder, configuration: .init(mustExist: true))
    var report: Replica.SyncReport?
    let growth = try await growth { report = try await replica.sync() }
    await replica.close()
    let remotes = report?.remotes ?? []
    if let error = remotes.compactMap(\.error).first { throw error }
    let takenRows = remotes.flatMap(\.taken).compactMap { $0.applied.state?.rows }.reduce(0, +)
    print(growth, remotes.compactMap { $0.publishedState?.bytes }.reduce(0, +), takenRows)
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
