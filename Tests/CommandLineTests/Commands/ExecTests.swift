import Foundation
import TestFolders
import Testing

@Suite struct ExecTests {
  private func titles(_ machine: Machine) throws -> [String] {
    try machine.godwit("query", "--json", "SELECT title FROM note ORDER BY views").objects().compactMap {
      $0["title"] as? String
    }
  }

  @Test(arguments: ["CREATE TABLE todo (a)", "create table if not exists todo (a); INSERT INTO todo VALUES (1)"])
  func aTableThatSQLMakesIsSaidToStayHere(sql: String) throws {
    let machine = try Machine("local")
    try #require(try machine.godwit("init", "--name", "x").status == 0)
    #expect(try machine.godwit("exec", sql).error.contains("stays on this machine"))
    #expect(
      try machine.godwit("shell", input: Data("CREATE TABLE more (a);".utf8)).error.contains("stays on this machine"))
    #expect(try !machine.godwit("exec", "CREATE TEMP TABLE t (a)").error.contains("stays on"))
    #expect(try !machine.godwit("exec", "DELETE FROM todo").error.contains("stays on"))
  }

  @Test func whatIsWrittenIsCapturedAndSyncs() async throws {
    let (desk, laptop) = try await Machine.pair()
    try #require(try desk.pipe(["export", "-"], to: laptop, ["import", "-"]).status == 0)

    let outcome = try desk.godwit("exec", "UPDATE note SET title = 'renamed' WHERE views >= 2")

    #expect(outcome.status == 0 && outcome.output.isEmpty)
    #expect(outcome.error == "changed 2 rows\n")
    let entry = try #require(try desk.godwit("log", "--json", "--limit", "1").objects().first)
    let change = try #require((entry["changes"] as? [[String: Any]])?.first)
    #expect(change["table"] as? String == "note" && change["updated"] as? Int == 2)
    try #require(try desk.pipe(["export", "-"], to: laptop, ["import", "-"]).status == 0)
    #expect(try titles(laptop) == ["note 1", "renamed", "renamed"])
    #expect(try desk.digest() == laptop.digest())
    #expect(try desk.godwit("verify").status == 0)
  }

  @Test func severalStatementsAreOneTransaction() async throws {
    let (desk, _) = try await Machine.pair()

    let outcome = try desk.godwit(
      "exec", "INSERT INTO note (id, title, views) VALUES (randomblob(16), 'a;b', 0); -- one row",
      "UPDATE note SET views = views + 10; DELETE FROM note WHERE title = 'note 3'")

    #expect(outcome.status == 0)
    #expect(
      outcome.error.split(separator: "\n") == [
        "statement 1 changed 1 row", "statement 2 changed 4 rows", "statement 3 changed 1 row",
        "changed 6 rows in all",
      ])
    #expect(try titles(desk) == ["a;b", "note 1", "note 2"])
    #expect(try desk.godwit("log", "--json").lines.count == 2)
  }

  @Test(arguments: [
    ("UPDATE note SET title = 'x'; SELEKT 1", "statement 2, line 1: near \"SELEKT\": syntax error", "sqlite_master"),
    ("UPDATE note SET title = 'x';\nUPDATE nothing SET a = 1", "statement 2, line 2: no such table", "sqlite_master"),
    ("UPDATE note SET title = 'x'; UPDATE note SET views = NULL", "NOT NULL", "what the table demands"),
    ("UPDATE note SET title = 'x'; INSERT INTO note SELECT * FROM note", "UNIQUE", "there already"),
    ("UPDATE note SET title = 'x'; COMMIT", "not allowed", "are one transaction already"),
    ("UPDATE note SET title = 'x'; DELETE FROM godwit_log", "not allowed", "Godwit's own tables"),
    ("UPDATE note SET title = 'x'; ALTER TABLE note ADD COLUMN more", "not allowed", "migrations"),
    ("UPDATE note SET title = 'x'; UPDATE note SET title = 'y", "statement 2", "sqlite_master"),
  ])
  func whatFailsChangesNothing(sql: String, message: String, hint: String) async throws {
    let (desk, _) = try await Machine.pair()
    let before = try desk.digest()

    let outcome = try desk.godwit("exec", sql)

    #expect(outcome.status == 1 && outcome.output.isEmpty)
    #expect(outcome.error.hasPrefix("godwit: error: ") && outcome.error.contains(message), "\(outcome.error)")
    #expect(outcome.error.contains("; nothing was changed\ngodwit: hint: "), "\(outcome.error)")
    #expect(outcome.error.contains(hint), "\(outcome.error)")
    #expect(try desk.digest() == before)
    #expect(try desk.godwit("log", "--json").lines.count == 1)
  }

  @Test func theErrorOfOneStatementDoesNotRepeatItsText() async throws {
    let (desk, _) = try await Machine.pair()
    let outcome = try desk.godwit("exec", "UPDATE note SET titel = 'secret'")
    #expect(outcome.error.hasPrefix("godwit: error: no such column: titel; nothing was changed\n"), "\(outcome.error)")
  }

  @Test func aDryRunTakesEverythingBack() async throws {
    let (desk, _) = try await Machine.pair()
    let before = try desk.digest()

    let outcome = try desk.godwit("exec", "--dry-run", "DELETE FROM note; CREATE TABLE own (a)")
    let failed = try desk.godwit("exec", "--dry-run", "DELETE FROM note; DELETE FROM nothing")

    #expect(outcome.status == 0)
    #expect(outcome.error.hasSuffix("changed 3 rows in all\nall of it was taken back: nothing was changed\n"))
    #expect(failed.status == 1)
    #expect(try desk.digest() == before)
    #expect(try desk.godwit("log", "--json").lines.count == 1)
    #expect(try desk.godwit("query", "SELECT 1 FROM sqlite_master WHERE name = 'own'").output.isEmpty)
    #expect(try desk.godwit("verify").status == 0)
  }

  @Test func aStatementThatChangesNoRowsHasNoCountOfAnother() async throws {
    let (desk, _) = try await Machine.pair()
    let outcome = try desk.godwit("exec", "--json", "UPDATE note SET views = 0", "CREATE INDEX own ON note (views)")
    let statements = try #require(try outcome.objects().first?["statements"] as? [[String: Any]])
    #expect(statements.map { $0["changed"] as? Int } == [3, 0])
  }

  @Test func aQueryIsPointedToTheCommandThatShowsRows() async throws {
    let (desk, _) = try await Machine.pair()
    let outcome = try desk.godwit("exec", "SELECT title FROM note")
    #expect(outcome.status == 0 && outcome.output.isEmpty)
    #expect(
      outcome.error == "the statement finds rows, which are not shown; use: godwit query\nchanged 0 rows\n")
    #expect(try desk.godwit("log", "--json").lines.count == 1)
  }

  @Test func statementsComeFromTheStandardInputOrAFile() async throws {
    let (desk, _) = try await Machine.pair()
    let script = """
      \u{FEFF}-- Without its first rows; the semicolon in this line ends nothing.
      DELETE FROM note WHERE views < 3;
      CREATE TRIGGER counting AFTER UPDATE OF title ON note BEGIN
        SELECT CASE WHEN 1 THEN 2 END; UPDATE note SET views = 9 WHERE id = NEW.id; END;
      UPDATE note SET title = '-- ; /*';
      /* the end */
      """
    // A schema's text is looked for everywhere else (Specs/threat-model.md, "Marker scan").
    try FileManager.default.createDirectory(
      atPath: desk.path(MarkerScan.allowedFolder), withIntermediateDirectories: false)
    let file = desk.path("\(MarkerScan.allowedFolder)/script.sql")
    try Data(script.utf8).write(to: URL(fileURLWithPath: file))

    let dry = try desk.godwit("exec", "--dry-run", "-", input: Data(script.utf8))
    let outcome = try desk.godwit("exec", "--file", file)

    #expect(dry.status == 0 && dry.error.contains("changed 3 rows in all"), "\(dry.error)")
    #expect(outcome.status == 0 && outcome.error.contains("statement 3 changed 1 row"), "\(outcome.error)")
    #expect(try desk.godwit("query", "SELECT title, views FROM note").lines.last == "-- ; /*      9")
    try desk.write(Data([0x2D, 0x2D, 0xFF]), to: "bytes.sql")
    #expect(try desk.godwit("exec", "--file", "bytes.sql").error.contains("is not UTF-8"))
    #expect(try desk.godwit("exec", "--file", "missing.sql").status == 1)
  }

  @Test func textThatIsTooLongIsRefused() async throws {
    let (desk, _) = try await Machine.pair()
    let outcome = try desk.godwit("exec", "-", input: Data(repeating: 0x20, count: 17 << 20))
    #expect(outcome.status == 1 && outcome.error.contains("longer than"), "\(outcome.error)")
  }

  @Test func theJSONHasEveryStatement() async throws {
    let (desk, _) = try await Machine.pair()
    let outcome = try desk.godwit("exec", "--json", "--dry-run", "DELETE FROM note; SELECT 1")
    #expect(outcome.status == 0 && outcome.error.isEmpty)
    #expect(
      outcome.text == """
        {"statements":[{"changed":3,"findsRows":false},{"changed":0,"findsRows":true}],"changed":3,"dryRun":true}

        """)
  }

  @Test(arguments: [["exec"], ["exec", "-", "DELETE FROM note"], ["exec", "DELETE FROM note", "--file", "x"]])
  func theStatementsComeFromOnePlace(arguments: [String]) throws {
    #expect(try Machine("usage").run(arguments).status == 64)
  }

  @Test(arguments: ["", ";", " -- nothing", "/* nothing */ ;"])
  func noStatementIsAnError(sql: String) async throws {
    let (desk, _) = try await Machine.pair()
    let outcome = try desk.godwit("exec", sql)
    #expect(outcome.status == 1 && outcome.error.contains("there is no statement"), "\(outcome.error)")
  }
}
