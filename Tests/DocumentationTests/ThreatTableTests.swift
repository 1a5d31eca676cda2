import Foundation
import Testing

@Suite("Specs/threat-model.md")
struct ThreatTableTests {
  /// The tests that each row of a table names: words in backquotes with a slash.
  private static func rows() throws -> [(number: Int, tests: [String])] {
    try DocumentationPage.text(of: "Specs/threat-model.md").components(separatedBy: "\n").compactMap { line in
      let cells = TestNames.cells(of: line)
      guard cells.count >= 6, let number = Int(cells[1]) else { return nil }
      let words = cells[4].matches(of: /`(\w+\/\w+)`/).map { String($0.output.1) }
      return (number, words)
    }
  }

  @Test("names at least one test for each threat, and only tests that exist")
  func tests() throws {
    let rows = try Self.rows()
    #expect(rows.count >= 18)
    let existing = try TestNames.all()
    for row in rows {
      #expect(!row.tests.isEmpty, "row \(row.number)")
      for test in row.tests { #expect(existing.contains(test), "row \(row.number): \(test)") }
    }
  }
}
