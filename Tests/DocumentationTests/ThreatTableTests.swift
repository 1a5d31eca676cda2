import Foundation
import Testing

/// A row of the table in Specs/threat-model.md.
private struct ThreatRow {
  let number: Int
  let state: String
  /// `Type/function` of each test.
  let tests: [String]
  let missing: String

  /// Nil for lines that are no row of the table.
  init?(line: String) {
    let cells = TestNames.cells(of: line)
    guard cells.count == 8, let number = Int(cells[1]) else { return nil }
    self.number = number
    state = cells[3]
    tests = TestNames.named(in: cells[5])
    missing = cells[6]
  }
}

@Suite("Specs/threat-model.md")
struct ThreatTableTests {
  private let rows: [ThreatRow]

  init() throws {
    rows = try DocumentationPage.text(of: "Specs/threat-model.md").components(separatedBy: "\n")
      .compactMap(ThreatRow.init)
  }

  @Test("has every threat, each once and in order")
  func numbers() { #expect(rows.map(\.number) == Array(1...29)) }

  @Test("names tests of what holds, and says what is missing where something is")
  func states() {
    for row in rows {
      #expect(["holds", "partly", "not protected"].contains(row.state), "row \(row.number) is \(row.state)")
      if row.state == "holds" {
        #expect(!row.tests.isEmpty, "row \(row.number) holds, but names no test")
      } else {
        #expect(!row.missing.isEmpty, "row \(row.number): nothing is said to be missing")
      }
    }
  }

  @Test("names tests that exist")
  func tests() throws {
    let existing = try TestNames.all()
    let unknown = rows.flatMap { row in
      row.tests.filter { !existing.contains($0) }.map { "row \(row.number): \($0)" }
    }
    #expect(unknown.isEmpty, "these are no tests in Tests/")
  }
}
