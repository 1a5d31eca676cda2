import Foundation
import Testing

@Suite("Errors.md")
struct ErrorTableTests {
  private static let page = "Sources/Godwit/Godwit.docc/Errors.md"
  private static let groups = ["The program", "A person", "Nobody"]

  @Test("has a row for each code, each in one group")
  func codes() throws {
    let rows = ErrorRow.all(in: try DocumentationPage.text(of: Self.page))
    let problems = ErrorRow.problems(of: rows, codes: try ErrorRow.codes())
    #expect(problems.isEmpty)
    #expect(Set(rows.map(\.group)) == Set(Self.groups))
  }

  @Test("says of each code what it means, its cause and its remedy")
  func cells() throws {
    for row in ErrorRow.all(in: try DocumentationPage.text(of: Self.page)) {
      #expect(row.cells.count == 3, "the row of \(row.code) has not four cells")
      #expect(!row.cells.contains(""), "a cell of \(row.code) is empty")
    }
  }

  @Test("reads the codes where they are declared")
  func declared() throws {
    let codes = try ErrorRow.codes()
    #expect(codes.count > 50)
    #expect(Set(codes).count == codes.count)
    #expect(codes.contains("busy"))
  }

  @Test("a missing code, a row of no code and a code in two groups are found")
  func drift() {
    let rows = ErrorRow.all(
      in: """
        ## The program

        | code | what it means | usual cause | remedy |
        |---|---|---|---|
        | `sql` | a | b | c |
        | `busy` | a | b | c |
        | `sqll` | a | b | c |

        ## Nobody

        | `busy` | a | b | c |
        """)
    #expect(rows.map(\.code) == ["sql", "busy", "sqll", "busy"])
    #expect(rows.map(\.group) == ["The program", "The program", "The program", "Nobody"])
    #expect(
      ErrorRow.problems(of: rows, codes: ["sql", "busy", "closed"]) == [
        "busy has 2 rows", "closed has no row", "sqll is no code",
      ])
  }
}

/// A row of a table of error codes, below the heading of its group.
private struct ErrorRow {
  private static let declarations = "Sources/GodwitBase/Errors"

  let group: String
  let code: String
  /// What stands behind the code.
  let cells: [String]

  static func all(in page: String) -> [ErrorRow] {
    var group = ""
    var rows: [ErrorRow] = []
    for line in page.components(separatedBy: "\n") {
      if line.hasPrefix("## ") { group = String(line.dropFirst(3)) }
      guard line.hasPrefix("| `") else { continue }
      let cells = TestNames.cells(of: line)
      guard let code = TestNames.named(in: cells[1]).first else { continue }
      rows.append(ErrorRow(group: group, code: code, cells: Array(cells.dropFirst(2).dropLast())))
    }
    return rows
  }

  /// The constants of `GodwitError.Code`, as its source declares them.
  static func codes() throws -> [String] {
    let declaration = /public static let (\w+) = Self\("(\w+)"\)/
    let files = try FileManager.default.contentsOfDirectory(atPath: "\(DocumentationPage.root)/\(declarations)")
    return try files.sorted().flatMap { file in
      try DocumentationPage.text(of: "\(declarations)/\(file)").matches(of: declaration).map { String($0.output.2) }
    }
  }

  static func problems(of rows: [ErrorRow], codes: [String]) -> [String] {
    let counts = Dictionary(grouping: rows, by: \.code).mapValues(\.count)
    let missing = codes.filter { counts[$0] == nil }.map { "\($0) has no row" }
    let doubled = counts.filter { $0.value > 1 }.map { "\($0.key) has \($0.value) rows" }
    let unknown = counts.keys.filter { !codes.contains($0) }.map { "\($0) is no code" }
    return (missing + doubled + unknown).sorted()
  }
}
