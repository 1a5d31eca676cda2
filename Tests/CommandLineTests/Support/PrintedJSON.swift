import Foundation
import Synchronization

/// Keeps what runs of the program with `--json` print, for Tests/Conformance/json_lines.py to compare with the schemas.
enum PrintedJSON {
  /// Names the file that takes a line for each run: its arguments, and the lines that it printed.
  private static let logVariable = "GODWIT_JSON_LOG"
  private static let file = Mutex(
    ProcessInfo.processInfo.environment[logVariable].flatMap { FileHandle(forWritingAtPath: $0) })

  static func note(_ output: [UInt8], of process: Process?) {
    guard let arguments = process?.arguments, arguments.contains("--json"), process?.executableURL?.path == Program.path
    else { return }
    let lines = String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
    guard !lines.isEmpty,
      let run = try? JSONSerialization.data(withJSONObject: ["arguments": arguments, "lines": lines])
    else { return }
    file.withLock { file in
      _ = try? file?.seekToEnd()
      try? file?.write(contentsOf: run + Data("\n".utf8))
    }
  }
}
