import Foundation
import GodwitBase

/// Other programs, for interoperation.
enum Programs {
  /// The program's path when it is on PATH.
  static func find(_ name: String) -> String? {
    let folders = ProcessInfo.processInfo.environment["PATH"]?.split(separator: ":") ?? []
    return folders.map { "\($0)/\(name)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
  }

  /// A Python that has the module: the one GODWIT_PYRAGE_PYTHON names, or python3.
  static func python(with module: String) -> String? {
    let named = ProcessInfo.processInfo.environment["GODWIT_PYRAGE_PYTHON"]
    return [named, find("python3")].compactMap(\.self).first { python in
      (try? run(python, ["-c", "import \(module)"], input: "/dev/null", output: "/dev/null")) == 0
    }
  }

  /// Runs it with standard input and output on files; returns its exit status.
  static func run(_ path: String, _ arguments: [String], input: String, output: String) throws -> Int32 {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    if output != "/dev/null" { try Data().write(to: URL(fileURLWithPath: output)) }
    process.standardInput = FileHandle(forReadingAtPath: input)
    process.standardOutput = FileHandle(forWritingAtPath: output)
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    return process.terminationStatus
  }
}
