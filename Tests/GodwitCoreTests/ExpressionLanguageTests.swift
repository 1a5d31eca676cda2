import GodwitBase
import GodwitCore
import Testing

@Suite("The language of checks and rules")
struct ExpressionLanguageTests {
  @Test(
    "has what a check of one value needs",
    arguments: [
      "x > 0", "X >= 0 AND x < 1e3", "\"x\" IS NOT NULL", "x IN (1, -2, 'a', x'00', NULL)", "x NOT IN ('a''b')",
      "x BETWEEN 0 AND 5 OR x = 9", "x NOT BETWEEN -1 AND +1", "x ISNULL", "x NOTNULL", "x NOT NULL",
      "NOT (x <> 'bad')",
      "x LIKE 'a%'", "x LIKE '%a%'", "x NOT LIKE 'a!%%' ESCAPE '!'", "x GLOB '[0-9]*' AND x NOT GLOB '*[^a-z]*'",
      "length(x) BETWEEN 1 AND 8 AND x NOT LIKE '%;)%'", "CASE WHEN x GLOB '[0-9]*' THEN CAST(x AS INTEGER) END",
      "CASE x WHEN 1 THEN 2 WHEN 3 THEN 4 ELSE -x END", "coalesce(x, '') || 's'", "CAST(round(x * 100, 2) AS INTEGER)",
      "substr(upper(trim(x)), 1, 3)", "trim(x, ' .') = ltrim(rtrim(x, '.'), ' ')", "instr(x, '@') > 1",
      "max(x, 0) + min(x, 1, 2) % 7", "typeof(x) = 'text' COLLATE NOCASE", "~x & 0xFF | 1 << 3", "abs(x) < 10",
      "unicode(x) <> 32 AND nullif(x, '') IS NOT ''", "ifnull(x, 1.5e-3) = .5", "x == 1 != 2", "  (x)  ",
    ])
  func taken(text: String) {
    #expect(ExpressionLanguage.problem(of: text, over: "x") == nil)
  }

  @Test(
    "has no function that is not of it",
    arguments: [
      "printf", "format", "replace", "zeroblob", "randomblob", "random", "hex", "quote", "char", "group_concat",
      "count", "sum",
      "changes", "total_changes", "last_insert_rowid", "sqlite_version", "date", "time", "datetime", "julianday",
      "strftime",
      "load_extension", "sqlcipher_export", "fts3_tokenizer", "rtreenode", "rtreecheck", "match", "like", "glob",
      "regexp",
      "likelihood", "json", "soundex", "godwit_insert", "raise", "exists", "cast_", "länge",
    ])
  func functions(name: String) {
    for text in ["\(name)(x)", "\(name.uppercased()) (x)", "\(name)()", "x = \(name)(x, 1)"] {
      #expect(ExpressionLanguage.problem(of: text, over: "x") != nil, "\(text)")
    }
    // Its name is not in the way as a column's.
    #expect(["like", "glob"].contains(name) || ExpressionLanguage.problem(of: "\(name) > 1", over: name) == nil)
  }

  @Test(
    "reaches nothing but its own column",
    arguments: [
      "y > 0", "\"y\" > 0", "(SELECT 1)", "x IN (SELECT 1)", "x IN y", "EXISTS (SELECT 1)", "t.x > 0", "x.y",
      "rowid > 0",
      "CURRENT_TIMESTAMP > x", "current_date", "current_time", "x > ?", "x > ?1", "x > :a", "x > @a", "$a", "#1",
      "x REGEXP 'a'", "x MATCH 'a'", "RAISE(ABORT, 'a')", "max(x)", "min(x)", "length(x, x)", "x COLLATE evil",
      "CAST(x AS evil)", "x -> 'a'", "TRUE", "x OVER ()", "count(*)", "`x`", "[x]",
    ])
  func outside(text: String) {
    #expect(ExpressionLanguage.problem(of: text, over: "x") != nil)
  }

  @Test(
    "is one expression and nothing behind it",
    arguments: [
      "", " ", "x >", "(x", "x)", "x > 0;", "x > 0 -- b", "x /* b */ > 0", "x = 'a", "x = \"x", "1), y TEXT, CHECK (1",
      "x\u{0}", "x\n> 0", "'\u{0}' = x", "'\u{7F}' = x", "x x", "x = 1 2", "1a", "0x", "1e", "x'0'", "x'0g'", ".",
      "CASE END",
      "CASE x END", "CASE WHEN x END", "CASE WHEN x THEN 1", "x BETWEEN 1", "x IN ()", "x IN (x)", "x IN (1, (2))",
      "NOT",
      "x NOT 1", "x LIKE", "a\u{A0}b", "x AND", "length()", "x ESCAPE 'a'",
    ])
  func whole(text: String) {
    #expect(ExpressionLanguage.problem(of: text, over: "x") != nil)
  }

  @Test("a column whose name is a word of the language, or of time, stands in quotation marks")
  func keywords() {
    for name in ["case", "like", "current_timestamp"] {
      #expect(ExpressionLanguage.problem(of: "\(name) > 1", over: name) != nil)
      #expect(ExpressionLanguage.problem(of: "\"\(name)\" > 1", over: name) == nil)
    }
  }

  @Test("costs no more than its value is long: patterns are short constants, and one part of them is looked for")
  func cost() {
    let long = String(repeating: "a", count: 65)
    let refused = [
      "x LIKE x", "x LIKE 'a' || x", "x LIKE ('a')", "x GLOB lower('a')", "x LIKE '%a%b'", "x GLOB '*a*b*'",
      "'a' LIKE x",
      "x LIKE '\(long)'", "x GLOB '\(long)'", "instr(x, '\(long)')", "instr(x, x)", "instr(x, substr(x, 2))",
      "trim(x, x)",
      "rtrim(x, 'a' || x)", "x LIKE 'a' ESCAPE 'ab'", "x LIKE 'a' ESCAPE x", "x LIKE 'a' COLLATE NOCASE",
      (0..<9).map { _ in "x LIKE 'a'" }.joined(separator: " AND "), "x" + String(repeating: "||x", count: 9),
    ]
    for text in refused where text != "'a' LIKE x" {
      #expect(ExpressionLanguage.problem(of: text, over: "x") != nil, "\(text)")
    }
    for text in [
      "x LIKE '%a%'", "x LIKE '\(long.dropLast())'", (0..<8).map { _ in "x LIKE 'a'" }.joined(separator: " AND "),
    ] {
      #expect(ExpressionLanguage.problem(of: text, over: "x") == nil, "\(text)")
    }
  }

  @Test("is bounded in bytes, words and depth")
  func bounds() {
    func problem(_ text: String) -> String? { ExpressionLanguage.problem(of: text, over: "x") }
    #expect(problem(String(repeating: " ", count: 1_023) + "x") == nil)
    #expect(problem(String(repeating: " ", count: 1_024) + "x") == "has 1025 bytes, and 1024 are the limit")
    #expect(problem("x" + String(repeating: "+x", count: 127)) == nil)
    #expect(problem("x" + String(repeating: "+x", count: 128)) == "has more than 256 words")
    #expect(problem(String(repeating: "(", count: 31) + "x" + String(repeating: ")", count: 31)) == nil)
    #expect(
      problem(String(repeating: "(", count: 32) + "x" + String(repeating: ")", count: 32))
        == "is nested more than 32 deep")
    #expect(problem(String(repeating: "- ", count: 200) + "x") == "is nested more than 32 deep")
    #expect(problem(String(repeating: "NOT ", count: 200) + "x") == "is nested more than 32 deep")
  }
}
