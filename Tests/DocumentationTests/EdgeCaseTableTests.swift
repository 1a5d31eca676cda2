import Foundation
import Testing

/// A row of the table in Specs/edge-cases.md.
private struct EdgeCaseRow {
  let number: Int
  let state: String
  /// `Type/function` of each test.
  let tests: [String]
  /// Files of Specs/vectors, without `.json`.
  let vectors: [String]
  let missing: String

  /// Nil for lines that are no row of the table.
  init?(line: String) {
    let cells = TestNames.cells(of: line)
    guard cells.count == 9, let number = Int(cells[1]) else { return nil }
    self.number = number
    state = cells[4]
    tests = TestNames.named(in: cells[5])
    vectors = TestNames.named(in: cells[6])
    missing = cells[7]
  }
}

@Suite("Specs/edge-cases.md")
struct EdgeCaseTableTests {
  private let rows: [EdgeCaseRow]

  init() throws {
    rows = try DocumentationPage.text(of: "Specs/edge-cases.md").components(separatedBy: "\n")
      .compactMap(EdgeCaseRow.init)
  }

  @Test("has rows 1 to 42, each once and in order")
  func numbers() { #expect(rows.map(\.number) == Array(1...42)) }

  @Test("names tests and vectors of what holds, and says what is missing where something is")
  func states() {
    for row in rows {
      #expect(["holds", "partly", "not yet"].contains(row.state), "row \(row.number) is \(row.state)")
      if row.state == "holds" { #expect(!row.tests.isEmpty, "row \(row.number) holds, but names no test") }
      #expect(!row.vectors.isEmpty, "row \(row.number) names no vector")
      if row.state != "holds" { #expect(!row.missing.isEmpty, "row \(row.number): nothing is said to be missing") }
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

  @Test("names every vector, in the row that the vector is named after")
  func vectors() throws {
    var existing: Set<String> = []
    for folder in ["merge", "clock", "migration"] {
      let path = "\(DocumentationPage.root)/Specs/vectors/\(folder)"
      for file in try FileManager.default.contentsOfDirectory(atPath: path)
      where file.hasSuffix(".json") && file.first?.isNumber == true {
        existing.insert("\(folder)/\(file.dropLast(5))")
      }
    }
    #expect(!existing.isEmpty)
    // Vectors of their own state the bytes of files, and are not named after rows.
    let containers = rows.flatMap(\.vectors).filter { $0.hasPrefix("container/") }
    for vector in containers {
      #expect(
        FileManager.default.fileExists(atPath: "\(DocumentationPage.root)/Specs/vectors/\(vector).json"), "\(vector)")
    }
    #expect(Set(rows.flatMap(\.vectors)).subtracting(containers) == existing)
    for row in rows {
      for vector in row.vectors where !containers.contains(vector) {
        let number = vector.split(separator: "/").last.flatMap { Int($0.prefix(2)) }
        #expect(number == row.number, "row \(row.number) names \(vector)")
      }
    }
  }
}
