import Foundation

/// What a Python package does of the same kind as a group of rows, in the same run: printed beside them and not gated.
struct PythonPeer {
  /// What people call it.
  let name: String
  /// What pip installs where it is missing, each importable by its own name.
  let packages: [String]
  /// Gets the folder with the packages, where it may write, and then the arguments; prints a line.
  let script: String

  /// The line, or why there is none.
  func line(in folder: String, _ arguments: [String]) -> String {
    let skipped = "\(name): skipped, "
    do {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      let install = [
        "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target", "\(folder)/packages",
      ]
      if try run(["-c", "import \(packages.joined(separator: ", "))"]) == nil, try run(install + packages) == nil {
        return skipped + "for pip cannot install it here"
      }
      return try run(["-c", Self.beginning + script, folder] + arguments) ?? skipped + "for it does not run here"
    } catch {
      return skipped + "for there is no python3"
    }
  }

  private static let beginning = "import sys; sys.path.insert(0, sys.argv[1] + '/packages')\n"

  /// What it writes, or nil when it fails.
  private func run(_ arguments: [String]) throws -> String? {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["python3"] + arguments
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    let data = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { return nil }
    return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
  }
}
