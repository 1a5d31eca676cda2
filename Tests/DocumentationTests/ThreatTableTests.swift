import Testing

@Suite("Specs/threat-model.md")
struct ThreatTableTests {
  private let rows: [TestedRow]

  init() throws {
    rows = try TestedRow.all(in: "Specs/threat-model.md")
  }

  @Test("has every threat, each once and in order")
  func numbers() { #expect(rows.map(\.number) == Array(1...43)) }

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
    let unknown = try TestedRow.unknownTests(of: rows)
    #expect(unknown.isEmpty, "these are no tests in Tests/")
  }

  /// Lines of the tables whose first cell is a name in bold, or a number of what was shown.
  private func lines(startingWith start: String, cells: Int) throws -> [[String]] {
    try DocumentationPage.text(of: "Specs/threat-model.md").components(separatedBy: "\n")
      .filter { $0.hasPrefix(start) }.map(TestNames.cells).filter { $0.count == cells }
  }

  @Test("says of each attacker, and of each attack that was shown, which tests show what it may not")
  func attackers() throws {
    let attackers = try lines(startingWith: "| **", cells: 7).map { $0[5] }
    let shown = try lines(startingWith: "| A", cells: 6).map { $0[4] }
    #expect(attackers.count == 10)
    #expect(shown.count == 17)
    let existing = try TestNames.all()
    for cell in attackers + shown {
      let names = TestNames.named(in: cell)
      #expect(!names.isEmpty)
      for name in names { #expect(existing.contains(name), "\(name) is no test") }
    }
  }
}
