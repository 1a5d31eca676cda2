import Foundation

/// A file of the package, as the rules of this folder look at it.
struct SourceFile {
  /// Below the package's folder.
  let path: String
  let text: String
  let lines: [Substring]

  init(path: String, text: String) {
    self.path = path
    self.text = text
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    if lines.last?.isEmpty == true { lines.removeLast() }
    self.lines = lines
  }

  /// Without `.swift`.
  var name: String { URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent }

  /// The type that the file is about: of `Type+Part.swift` the type.
  var owner: String { String(name.prefix { $0 != "+" }) }

  /// The folder right below `Sources`; nil for a file that is elsewhere.
  var module: String? {
    let parts = path.split(separator: "/")
    return parts.count > 2 && parts[0] == "Sources" ? String(parts[1]) : nil
  }

  /// The package's folder.
  static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().path

  /// The Swift files in these folders of the package, by their paths.
  static func all(in folders: [String]) throws -> [SourceFile] {
    try folders.flatMap { folder in
      try FileManager.default.subpathsOfDirectory(atPath: "\(root)/\(folder)").filter { $0.hasSuffix(".swift") }
        .sorted()
        .map {
          try SourceFile(
            path: "\(folder)/\($0)", text: String(contentsOfFile: "\(root)/\(folder)/\($0)", encoding: .utf8))
        }
    }
  }
}

/// A place where a rule is broken.
struct Breach: CustomStringConvertible, Equatable {
  let path: String
  /// From 1; nil for the whole file.
  var line: Int?
  let reason: String

  var description: String { "\(path)\(line.map { ":\($0)" } ?? ""): \(reason)" }
}
