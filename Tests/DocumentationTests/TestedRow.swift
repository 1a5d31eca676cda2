import Foundation

/// A row of a numbered table whose columns are number, what it is, state, a note, tests and what is missing.
struct TestedRow {
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

  static func all(in page: String) throws -> [TestedRow] {
    try DocumentationPage.text(of: page).components(separatedBy: "\n").compactMap(TestedRow.init)
  }

  /// The tests that rows name and that are none.
  static func unknownTests(of rows: [TestedRow]) throws -> [String] {
    let existing = try TestNames.all()
    return rows.flatMap { row in row.tests.filter { !existing.contains($0) }.map { "row \(row.number): \($0)" } }
  }
}
