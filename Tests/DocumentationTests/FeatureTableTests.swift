import Foundation
import Testing

/// A row of a table in Specs/features.md.
private struct FeatureRow {
  let number: Int
  let state: String
  /// `Type/function` of each test.
  let tests: [String]
  let missing: String

  /// Nil for lines that are no row of a feature.
  init?(line: String) {
    // A bar inside code is written \| and splits nothing.
    let cells = line.replacingOccurrences(of: "\\|", with: "¦").split(separator: "|", omittingEmptySubsequences: false)
      .map { $0.trimmingCharacters(in: .whitespaces) }
    guard cells.count == 8, let number = Int(cells[1]) else { return nil }
    self.number = number
    state = cells[3]
    tests = cells[5].split(separator: ",").map { $0.trimmingCharacters(in: CharacterSet(charactersIn: "` ")) }
      .filter { !$0.isEmpty }
    missing = cells[6]
  }
}

@Suite("Specs/features.md")
struct FeatureTableTests {
  private let rows: [FeatureRow]

  init() throws {
    rows = try DocumentationPage.text(of: "Specs/features.md").components(separatedBy: "\n")
      .compactMap(FeatureRow.init)
  }

  @Test("has rows 1 to 44, each once and in order")
  func numbers() { #expect(rows.map(\.number) == Array(1...44)) }

  @Test("says of each row whether it is there, and what is missing where it is not")
  func states() {
    for row in rows {
      #expect(["done", "partly", "not yet"].contains(row.state), "row \(row.number) is \(row.state)")
      if row.state == "done" {
        #expect(!row.tests.isEmpty, "row \(row.number) is done, but names no test")
      } else {
        #expect(!row.missing.isEmpty, "row \(row.number) is \(row.state), but nothing is said to be missing")
      }
    }
  }

  @Test("names tests that exist")
  func tests() throws {
    let existing = try Self.existingTests()
    let unknown = rows.flatMap { row in
      row.tests.filter { !existing.contains($0) }.map { "row \(row.number): \($0)" }
    }
    #expect(unknown.isEmpty, "these are no tests in Tests/")
  }

  /// `Type/function` of every test in Tests/: a type opens at the start of a line and holds what follows it.
  private static func existingTests() throws -> Set<String> {
    let type = /^(?:private |final )*(?:struct|class|extension) (\w+)/
    let function = /\bfunc (\w+)/
    let folder = "\(DocumentationPage.root)/Tests"
    var found: Set<String> = []
    for path in try FileManager.default.subpathsOfDirectory(atPath: folder) where path.hasSuffix("Tests.swift") {
      var current = ""
      var isTest = false
      for line in try DocumentationPage.text(of: "Tests/\(path)").split(separator: "\n") {
        let declared = line.replacing("@Suite ", with: "")
        if let match = declared.firstMatch(of: type) { current = String(match.output.1) }
        if line.contains("@Test") { isTest = true }
        if isTest, let match = line.firstMatch(of: function) {
          found.insert("\(current)/\(match.output.1)")
          isTest = false
        }
      }
    }
    return found
  }
}
