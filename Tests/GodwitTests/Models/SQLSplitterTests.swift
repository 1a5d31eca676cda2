import GodwitModel
import Testing

@Suite("Statements of a text in SQL")
struct SQLSplitterTests {
  private func texts(_ text: String) -> [String] { SQLSplitter.statements(of: text.utf8).map(\.text) }

  @Test(
    "end at the semicolons that end statements",
    arguments: [
      ("SELECT 1; SELECT 2", ["SELECT 1", "SELECT 2"]),
      ("SELECT ';'; SELECT 'it'';s';", ["SELECT ';'", "SELECT 'it'';s'"]),
      ("SELECT \"a;\", [b;], `c;`;", ["SELECT \"a;\", [b;], `c;`"]),
      ("-- one;\nSELECT 1; -- two;\n/* three; */ SELECT 2 /* ; */;", ["SELECT 1", "SELECT 2 /* ; */"]),
      ("SELECT 1-2/3; SELECT 4--5;\n;", ["SELECT 1-2/3", "SELECT 4--5;\n"]),
      (
        "CREATE TEMP TRIGGER t AFTER INSERT ON a BEGIN SELECT CASE 1 WHEN 2 THEN 3 END; DELETE FROM a; END; SELECT 1",
        [
          "CREATE TEMP TRIGGER t AFTER INSERT ON a BEGIN SELECT CASE 1 WHEN 2 THEN 3 END; DELETE FROM a; END",
          "SELECT 1",
        ]
      ),
      ("CREATE TABLE trigger_a (a); SELECT 1", ["CREATE TABLE trigger_a (a)", "SELECT 1"]),
      ("EXPLAIN QUERY PLAN SELECT 1; SELECT 2", ["EXPLAIN QUERY PLAN SELECT 1", "SELECT 2"]),
      ("", []), (";; \n;", []), ("-- nothing", []), ("/* nothing", []), ("SELECT 'cut", ["SELECT 'cut"]),
    ])
  func statements(text: String, expected: [String]) { #expect(texts(text) == expected) }

  @Test("have the line and the first word of their first token")
  func places() {
    let statements = SQLSplitter.statements(of: "-- one\n\n  update a\nSET b = 1;/*\n*/ 'x'".utf8)
    #expect(statements.map(\.line) == [3, 5])
    #expect(statements.map(\.firstWord) == ["UPDATE", ""])
  }

  @Test("are the same however the text comes")
  func pieces() {
    let text = "SELECT 'ä;'; -- b;\nCREATE TRIGGER t AFTER INSERT ON a BEGIN SELECT 1; END; /* ; */ SELECT [2;]"
    var splitter = SQLSplitter()
    var statements: [SQLSplitter.Statement] = []
    for byte in text.utf8 { statements += splitter.append([byte]) }
    statements += splitter.finish().map { [$0] } ?? []
    #expect(statements == SQLSplitter.statements(of: text.utf8))
    #expect(statements.count == 3)
  }

  @Test("are under way from the first byte to the last")
  func inside() {
    var splitter = SQLSplitter()
    #expect(splitter.append("  \n-- a\n".utf8).isEmpty && !splitter.isInside)
    #expect(splitter.append("/* a\n".utf8).isEmpty && splitter.isInside)
    #expect(splitter.append("*/".utf8).isEmpty && !splitter.isInside)
    #expect(splitter.append("SELECT 'a;\n".utf8).isEmpty && splitter.isInside)
    splitter.drop()
    #expect(!splitter.isInside)
    #expect(splitter.append("SELECT 1;\n".utf8).map(\.line) == [5] && !splitter.isInside)
  }
}
