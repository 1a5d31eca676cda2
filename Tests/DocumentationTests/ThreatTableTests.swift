import Testing

@Suite("Specs/threat-model.md")
struct ThreatTableTests {
  private let rows: [TestedRow]

  init() throws {
    rows = try TestedRow.all(in: "Specs/threat-model.md")
  }

  @Test("has every threat, each once and in order")
  func numbers() { #expect(rows.map(\.number) == Array(1...33)) }

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
}
