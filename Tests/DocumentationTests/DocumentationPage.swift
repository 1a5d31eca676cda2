import Foundation
import Testing

/// A page of documentation with Swift in it, and the file of Tests/DocumentationSamples that compiles and runs it.
struct DocumentationPage: Sendable, CustomTestStringConvertible {
  static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path
  static let sampleFolder = "Tests/DocumentationSamples"

  /// Relative to the package.
  let path: String

  /// What shows pieces of the program in Tests/Outside instead.
  static let tutorial = DocumentationPage(path: "Sources/Godwit/Godwit.docc/Tutorial.md")

  /// README.md and the articles of the DocC catalog, without the tutorial.
  static var all: [DocumentationPage] {
    let catalog = "Sources/Godwit/Godwit.docc"
    let articles = (try? FileManager.default.contentsOfDirectory(atPath: "\(root)/\(catalog)")) ?? []
    return ["README.md"].map(Self.init)
      + articles.filter { $0.hasSuffix(".md") }.sorted().map { Self(path: "\(catalog)/\($0)") }
      .filter { $0.path != tutorial.path }
  }

  init(path: String) { self.path = path }

  var name: String { URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent }
  var samplePath: String { "\(Self.sampleFolder)/\(name).swift" }
  var testDescription: String { path }

  static func text(of path: String) throws -> String {
    try String(contentsOfFile: "\(root)/\(path)", encoding: .utf8)
  }

  /// What the page shows between ```swift and ```, without imports, which a function cannot hold.
  func shownBlocks() throws -> [CodeBlock] {
    try Self.blocks(of: path, from: { $0 == "```swift" }, to: { $0 == "```" }).map(\.withoutImports)
  }

  /// What is compiled for the page, without the indentation of the type and function around it.
  func compiledBlocks() throws -> [CodeBlock] { try Self.compiledBlocks(in: samplePath) }

  /// What a file compiles between the comments that begin and end a sample, without the indentation around it.
  static func compiledBlocks(in path: String) throws -> [CodeBlock] {
    try blocks(of: path, from: { $0 == "// begin sample" }, to: { $0 == "// end sample" }).map(\.withoutIndentation)
  }

  private static func blocks(
    of path: String, from isBegin: (String) -> Bool, to isEnd: (String) -> Bool
  ) throws -> [CodeBlock] {
    var blocks: [CodeBlock] = []
    var open: CodeBlock?
    for (index, line) in try text(of: path).components(separatedBy: "\n").enumerated() {
      let trimmed = line.trimmingCharacters(in: .whitespaces)
      if open == nil, isBegin(trimmed) {
        open = CodeBlock(path: path, firstLine: index + 2, lines: [])
      } else if let block = open, isEnd(trimmed) {
        blocks.append(block)
        open = nil
      } else {
        open?.lines.append(line)
      }
    }
    return blocks
  }
}

/// Lines of Swift and where they stand.
struct CodeBlock {
  let path: String
  var firstLine: Int
  var lines: [String]

  var withoutImports: CodeBlock {
    let count = lines.prefix { $0.hasPrefix("import ") || $0.isEmpty }.count
    guard lines.prefix(count).contains(where: { !$0.isEmpty }) else { return self }
    return CodeBlock(path: path, firstLine: firstLine + count, lines: Array(lines.dropFirst(count)))
  }

  var withoutIndentation: CodeBlock {
    let depth = lines.filter { !$0.isEmpty }.map { $0.prefix { $0 == " " }.count }.min() ?? 0
    return CodeBlock(path: path, firstLine: firstLine, lines: lines.map { String($0.dropFirst(depth)) })
  }

  /// Says where the block first differs from another one; nil when it does not.
  func difference(from other: CodeBlock) -> String? {
    for index in 0..<max(lines.count, other.lines.count) {
      let line = index < lines.count ? lines[index] : nil
      let otherLine = index < other.lines.count ? other.lines[index] : nil
      guard line != otherLine else { continue }
      return """
        \(path):\(firstLine + index) shows what \(other.path):\(other.firstLine + index) does not compile
          shown:    \(line ?? "(the block has ended)")
          compiled: \(otherLine ?? "(the block has ended)")
        """
    }
    return nil
  }
}
