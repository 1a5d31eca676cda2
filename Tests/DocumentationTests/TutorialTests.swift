import Foundation
import Testing

@Suite("Tutorial.md and Tests/Outside")
struct TutorialTests {
  @Test("the tutorial shows pieces of the program that is compiled, line by line")
  func pieces() throws {
    let sources = try OutsideSource.all()
    let blocks = try DocumentationPage.tutorial.shownBlocks()
    #expect(blocks.count >= 10)
    for block in blocks where !sources.contains(where: { $0.holds(block) }) {
      Issue.record("\(block.path):\(block.firstLine) shows what no file of \(OutsideSource.folder) has")
    }
  }

  @Test("the tutorial shows every file of the program")
  func files() throws {
    let blocks = try DocumentationPage.tutorial.shownBlocks()
    let program = try OutsideSource.all().filter { $0.path.contains("/notebook/") }
    #expect(program.count >= 3)
    for source in program where !blocks.contains(where: source.holds) {
      Issue.record("the tutorial shows nothing of \(source.path)")
    }
  }

  @Test("a program outside of the package compiles README.md's sample")
  func readme() throws {
    let page = DocumentationPage(path: "README.md")
    let (shown, compiled) = (
      try page.shownBlocks(), try DocumentationPage.compiledBlocks(in: OutsideSource.readmeSample)
    )
    #expect(shown.count == 1)
    #expect(compiled.count == shown.count)
    for (block, source) in zip(shown, compiled) {
      if let difference = block.difference(from: source) { Issue.record("\(difference)") }
    }
  }

  @Test("a block with one other line, a line less in its middle, and an empty one are in no source")
  func drift() {
    let source = OutsideSource(path: "a.swift", text: "struct A {\n  func f() {\n    g()\n\n    h()\n  }\n}\n")
    func block(_ lines: String...) -> CodeBlock { CodeBlock(path: "Page.md", firstLine: 1, lines: lines) }
    #expect(source.holds(block("func f() {", "  g()", "", "  h()", "}")))
    #expect(source.holds(block("    h()", "  }")))
    #expect(!source.holds(block("func f() {", "  g(1)", "", "  h()", "}")))
    #expect(!source.holds(block("func f() {", "  h()", "}")))
    #expect(!source.holds(block("}", "func f() {")))
    #expect(!source.holds(block()))
    #expect(!source.holds(block("", "")))
  }
}

/// A file of the package in Tests/Outside, which depends on Godwit as a user's does.
private struct OutsideSource {
  static let folder = "Tests/Outside"
  static let readmeSample = "\(folder)/Sources/samples/Samples.swift"

  let path: String
  private let lines: [String]

  init(path: String, text: String) {
    self.path = path
    lines = Self.trimmed(text.components(separatedBy: "\n"))
  }

  /// The manifest and the sources; what a build leaves in the folder is none of them.
  static func all() throws -> [OutsideSource] {
    let sources = try FileManager.default.subpathsOfDirectory(atPath: "\(DocumentationPage.root)/\(folder)/Sources")
    let paths = ["Package.swift"] + sources.filter { $0.hasSuffix(".swift") }.sorted().map { "Sources/\($0)" }
    return try paths.map { path in
      try OutsideSource(path: "\(folder)/\(path)", text: DocumentationPage.text(of: "\(folder)/\(path)"))
    }
  }

  /// Whether the block's lines stand in the file, one behind the other, whatever their indentation.
  func holds(_ block: CodeBlock) -> Bool {
    let wanted = Self.trimmed(block.lines)
    guard wanted.contains(where: { !$0.isEmpty }), wanted.count <= lines.count else { return false }
    return (0...lines.count - wanted.count).contains { Array(lines[$0..<$0 + wanted.count]) == wanted }
  }

  private static func trimmed(_ lines: [String]) -> [String] { lines.map { $0.trimmingCharacters(in: .whitespaces) } }
}
