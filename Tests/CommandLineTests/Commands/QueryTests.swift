import Foundation
import Testing

@Suite struct QueryTests {
  private static let everyClass =
    "SELECT 7 AS a, 1.5 AS b, 'zwölf' AS c, x'00ff' AS d, NULL AS e, 9223372036854775807 AS f, -9e999 AS g, 8 AS a"

  private func machine() throws -> Machine {
    let machine = try Machine("query")
    try #require(try machine.godwit("init").status == 0)
    return machine
  }

  @Test func jsonKeepsEveryStorageClass() throws {
    let outcome = try machine().godwit("query", "--json", Self.everyClass)

    let row = try #require(try outcome.objects().first)
    #expect(row["a"] as? Int == 7)
    #expect(row["b"] as? Double == 1.5)
    #expect(row["c"] as? String == "zwölf")
    #expect(row["d"] as? [String: String] == ["$blob": "00ff"])
    #expect(row["e"] is NSNull)
    #expect(outcome.text.contains("\"f\":9223372036854775807"))
    #expect(row["g"] as? String == "-Infinity")
    #expect(row["a:1"] as? Int == 8)
  }

  @Test func peopleSeeAnAlignedTable() throws {
    let outcome = try machine().godwit(
      "query", "SELECT 1 AS n, 'a' AS t, x'0a' AS b UNION ALL SELECT 100, '日本', NULL")
    #expect(outcome.lines == ["  n  t     b", "  1  a     x'0a'", "100  日本  NULL"])
  }

  @Test func controlCharactersDoNotReachTheTerminal() throws {
    let outcome = try machine().godwit("query", "SELECT char(27) || '[2J' || char(10) AS t")
    #expect(outcome.lines == ["t", "\\u{1b}[2J\\n"])
  }

  @Test(arguments: [
    "DELETE FROM note", "UPDATE note SET title = ''", "DROP TABLE note", "PRAGMA user_version = 3", "BEGIN",
    "CREATE TABLE t (a)", "ATTACH 'x' AS y",
  ])
  func aStatementThatWritesIsRefused(sql: String) async throws {
    let (desk, _) = try await Machine.pair()
    let before = try desk.digest()

    let outcome = try desk.godwit("query", sql)

    #expect(outcome.status == 1)
    #expect(outcome.output.isEmpty)
    #expect(outcome.error.contains("godwit: hint: godwit query only reads"), "\(outcome.error)")
    #expect(try desk.digest() == before)
  }

  @Test func aStatementThatDoesNotCompileIsRefused() throws {
    let outcome = try machine().godwit("query", "SELEKT 1")
    #expect(outcome.status == 1)
    #expect(outcome.error.contains("syntax error"))
  }

  @Test func theStatementMayComeFromTheStandardInput() throws {
    let outcome = try machine().godwit("query", "-", input: Data("SELECT 2 AS two".utf8))
    #expect(outcome.lines == ["two", "  2"])
  }

  @Test func noRowsAreNoOutput() throws {
    let outcome = try machine().godwit("query", "SELECT 1 WHERE 0")
    #expect(outcome.output.isEmpty)
    #expect(outcome.error == "no rows\n")
    #expect(outcome.status == 0)
  }
}
