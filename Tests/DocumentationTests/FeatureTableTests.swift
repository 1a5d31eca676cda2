import Testing

@Suite("Specs/features.md")
struct FeatureTableTests {
  private let rows: [TestedRow]

  init() throws {
    rows = try TestedRow.all(in: "Specs/features.md")
  }

  @Test("has every row, each once and in order")
  func numbers() { #expect(rows.map(\.number) == Array(1...58)) }

  @Test("says of each row whether it is there, and what is missing where it is not")
  func states() {
    for row in rows {
      #expect(["done", "partly", "not yet"].contains(row.state), "row \(row.number) is \(row.state)")
      if row.state == "done" {
        #expect(!row.tests.isEmpty, "row \(row.number) is done, but names no test")
        #expect(row.missing.isEmpty, "row \(row.number) is done, but something is said to be missing")
      } else {
        #expect(!row.missing.isEmpty, "row \(row.number) is \(row.state), but nothing is said to be missing")
      }
    }
  }

  @Test("names tests that exist")
  func tests() throws {
    let unknown = try TestedRow.unknownTests(of: rows)
    #expect(unknown.isEmpty, "these are no tests in Tests/")
  }
}
