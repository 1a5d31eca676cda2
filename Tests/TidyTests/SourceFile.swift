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

  /// Without `.swift` or `.md`.
  var name: String { URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent }

  /// Whether the name stands in it, as a word.
  func has(_ name: String) -> Bool {
    text.contains(name) && text.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.contains(Substring(name))
  }

  var isPage: Bool { path.hasSuffix(".md") }
  var isSwift: Bool { path.hasSuffix(".swift") }

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
  static func all(in folders: [String]) throws -> [SourceFile] { try files(in: folders, ending: ".swift") }

  /// The pages that say what holds now: the specification without its decisions, the documentation and README.md.
  static func pages() throws -> [SourceFile] {
    let found = try files(in: ["Specs", "Sources"], ending: ".md")
    return try found.filter { !$0.path.hasPrefix("Specs/decisions/") } + [file("README.md"), file("CHANGELOG.md")]
  }

  /// What is neither Swift nor a page, and is read by people all the same: scripts, models and the formats in Python.
  static func scripts() throws -> [SourceFile] {
    let folders = ["Specs/model", "Tests/Conformance", "Tools"]
    let found = try [".pml", ".py", ".supp"].flatMap { try files(in: folders, ending: $0) }
    let tools = try FileManager.default.contentsOfDirectory(atPath: "\(root)/Tools").sorted()
    return try found
      + tools.filter { tool in
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: "\(root)/Tools/\(tool)", isDirectory: &isFolder)
          && !isFolder.boolValue && !tool.contains(".")
      }.map { try file("Tools/\($0)") }
  }

  private static func files(in folders: [String], ending: String) throws -> [SourceFile] {
    try folders.flatMap { folder in
      try FileManager.default.subpathsOfDirectory(atPath: "\(root)/\(folder)").filter { $0.hasSuffix(ending) }
        .sorted()
        .map { try file("\(folder)/\($0)") }
    }
  }

  private static func file(_ path: String) throws -> SourceFile {
    try SourceFile(path: path, text: String(contentsOfFile: "\(root)/\(path)", encoding: .utf8))
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
