import Testing

@testable import Godwit
@testable import GodwitEngine

@Suite("Words of a statement")
struct SQLWordsTests {
  @Test(
    "are those that SQLite sees",
    arguments: [
      ("CREATE TABLE t (a DEFAULT 'x'COLLATE NOCASE)", "COLLATE", true),
      ("CREATE TABLE t (a DEFAULT ' COLLATE ')", "COLLATE", false),
      ("CREATE TABLE t (a /* COLLATE */) -- COLLATE", "COLLATE", false),
      ("CREATE TABLE t (\"collate\", [collate], `collate`)", "COLLATE", false),
      ("CREATE TABLE t (a INT CHECK/* ( */(a > 0))", "CHECK", true),
      ("CREATE TABLE t (a 'it''s' CHECK(1))", "CHECK", true),
      ("CREATE TABLE t (a_CHECK, ÄCHECK, CHECK1)", "CHECK", false), ("create table t (a check (1))", "CHECK", true),
      ("CREATE TABLE t (a /* never ends CHECK", "CHECK", false), ("CREATE TABLE t ('never ends CHECK", "CHECK", false),
    ])
  func words(statement: String, word: String, isThere: Bool) { #expect(SQLWords(statement).contains(word) == isThere) }

  @Test("stand one after another")
  func sequence() {
    #expect(
      SQLWords("a ON\n/* */CONFLICT b").contains("ON", "CONFLICT")
        && !SQLWords("ON a CONFLICT").contains("ON", "CONFLICT"))
    #expect(SQLWords(" /**/ CREATE  VIRTUAL TABLE v").starts(with: "CREATE", "VIRTUAL", "TABLE"))
  }

  @Test(
    "literals are recognized by their bytes",
    arguments: [
      ("'it''s'", true), ("''", true), ("'a'||'b'", false), ("('a')", false), ("'a\u{600}'||f()||'\u{301}b'", false),
      ("'a", false), ("'''", false),
      ("-1.5e3", true), ("+5", true), ("1+1", false), ("x'00fF'", true), ("X'0g'", false), ("x", false),
      ("CURRENT_TIME", false), ("", false),
    ])
  func literals(text: String, isOne: Bool) { #expect(SourceSchema.isLiteral(text) == isOne) }
}
