/// How long files, functions and lines may be.
struct LengthRule {
  static let fileLines = 30...400
  static let functionLines = 60
  static let lineColumns = 120

  /// What may be longer or shorter: the beginning of a path, or a path, a colon and a function, each with the reason.
  let exceptions: [String: String]
  private let files: [SourceFile]

  init(_ files: [SourceFile], exceptions: [String: String] = [:]) {
    self.files = files
    self.exceptions = exceptions
  }

  func breaches(in file: SourceFile) -> [Breach] {
    fileBreach(in: file) + longLines(in: file) + longFunctions(in: file)
  }

  private func fileBreach(in file: SourceFile) -> [Breach] {
    guard !isExcepted(file.path), !Self.fileLines.contains(file.lines.count) else { return [] }
    if file.lines.count > Self.fileLines.upperBound {
      return [Breach(path: file.path, reason: "has \(file.lines.count) lines; a file has \(Self.fileLines.upperBound)")]
    }
    // A suite is as long as its subject needs.
    guard !file.name.hasSuffix("Tests"), !isSharedType(file) else { return [] }
    return [
      Breach(
        path: file.path,
        reason: "has \(file.lines.count) lines and is no type that another file uses; it belongs to its owner's file")
    ]
  }

  private func isExcepted(_ place: String) -> Bool { exceptions.keys.contains(where: place.hasPrefix) }

  /// Whether the file declares the type that it is named after, or extends it, and others use that.
  private func isSharedType(_ file: SourceFile) -> Bool {
    let declares = file.lines.contains { line in
      let words = line.split { !$0.isLetter && !$0.isNumber && $0 != "_" }
      return words.contains(Substring(file.owner))
        && words.contains { ["struct", "class", "enum", "actor", "protocol", "extension", "typealias"].contains($0) }
    }
    return declares && files.contains { $0.path != file.path && $0.has(file.owner) }
  }

  private func longLines(in file: SourceFile) -> [Breach] {
    file.lines.enumerated().filter { $1.count > Self.lineColumns && !Self.isText($1) }.map { number, line in
      Breach(path: file.path, line: number + 1, reason: "has \(line.count) columns; a line has \(Self.lineColumns)")
    }
  }

  /// Whether the line has a string or an address, which cannot be broken. A comment can be, wherever it quotes.
  private static func isText(_ line: Substring) -> Bool {
    let isComment = line.drop { $0 == " " }.hasPrefix("//")
    return line.contains("://") || line.contains("\"") && !isComment
  }

  private func longFunctions(in file: SourceFile) -> [Breach] {
    var breaches: [Breach] = []
    for (start, line) in file.lines.enumerated() {
      guard line.contains("func ") || line.contains("init"), let name = Self.function(declaredIn: line),
        !isExcepted("\(file.path):\(name)")
      else { continue }
      let indent = line.prefix { $0 == " " }
      guard let end = file.lines[start...].firstIndex(where: { $0 == "\(indent)}" }) else { continue }
      let inOneLine = line.last == "}"
      let count = end - start + 1
      if !inOneLine, count > Self.functionLines {
        breaches.append(
          Breach(
            path: file.path, line: start + 1, reason: "\(name) has \(count) lines; a function has \(Self.functionLines)"
          ))
      }
    }
    return breaches
  }

  /// The name of the function or initialiser that begins in a line.
  private static func function(declaredIn line: Substring) -> String? {
    let declaration =
      /^ *(?:@\w+(?:\([^)]*\))? )*(?:(?:public|package|private|fileprivate|static|final|mutating|override) )*(?:func (\w+|[^\w\s(]+)|(init)\b)/
    guard let match = line.firstMatch(of: declaration) else { return nil }
    return String(match.output.1 ?? match.output.2 ?? "")
  }
}
