import Testing

@Suite("Specs/remotes.md")
struct FaultTableTests {
  /// Number and tests of each fault.
  private let rows: [(number: Int, tests: [String])]

  init() throws {
    rows = try DocumentationPage.text(of: "Specs/remotes.md").components(separatedBy: "\n").compactMap { line in
      let cells = TestNames.cells(of: line)
      guard cells.count == 6, let number = Int(cells[1]) else { return nil }
      return (number, TestNames.named(in: cells[4]))
    }
  }

  @Test("has its faults in order, and none is missing")
  func numbers() {
    #expect(rows.map(\.number) == Array(1...39))
  }

  @Test("names a test of each fault, and only tests that exist")
  func tests() throws {
    let existing = try TestNames.all()
    for row in rows {
      #expect(!row.tests.isEmpty, "fault \(row.number) names no test")
      for test in row.tests { #expect(existing.contains(test), "fault \(row.number): \(test) is no test") }
    }
  }
}
