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
    let cells = TestNames.cells(of: line)
    guard cells.count == 8, let number = Int(cells[1]) else { return nil }
    self.number = number
    state = cells[3]
    tests = TestNames.named(in: cells[5])
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

  @Test("has every row, each once and in order")
  func numbers() { #expect(rows.map(\.number) == Array(1...58)) }

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
    let existing = try TestNames.all()
    let unknown = rows.flatMap { row in
      row.tests.filter { !existing.contains($0) }.map { "row \(row.number): \($0)" }
    }
    #expect(unknown.isEmpty, "these are no tests in Tests/")
  }
}
