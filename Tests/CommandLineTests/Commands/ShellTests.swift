import Foundation
import Testing

/// The shell over a pipe, and at a terminal.
@Suite struct ShellTests {
  private func shell(_ machine: Machine, _ input: String, _ options: String...) throws -> Outcome {
    try machine.run(["shell"] + options, input: Data(input.utf8))
  }

  @Test func statementsRunOneAfterAnother() async throws {
    let (desk, laptop) = try await Machine.pair()

    let outcome = try shell(
      desk,
      """
      SELECT title FROM note
        WHERE views = 1;
      UPDATE note SET title = 'a;b' WHERE views = 1; DELETE FROM note WHERE views = 3;
      SELECT title, views FROM note ORDER BY views;
      SELECT 1 WHERE 0;

      """)

    #expect(outcome.status == 0)
    #expect(outcome.lines == ["title", "note 1", "title   views", "a;b         1", "note 2      2"])
    #expect(outcome.error == "changed 1 row\nchanged 1 row\nno rows\n")
    #expect(try desk.godwit("log", "--json").lines.count == 3)
    try #require(try desk.pipe(["export", "-"], to: laptop, ["import", "-"]).status == 0)
    #expect(try desk.digest() == laptop.digest())
  }

  @Test func theFirstErrorEndsItAndWhatRanBeforeStays() async throws {
    let (desk, _) = try await Machine.pair()

    let outcome = try shell(
      desk, "DELETE FROM note WHERE views = 1;\n\nSELEKT 1;\nDELETE FROM note;\n")

    #expect(outcome.status == 1)
    #expect(
      outcome.error.contains("godwit: error: line 3: near \"SELEKT\": syntax error\ngodwit: hint: "),
      "\(outcome.error)")
    #expect(try desk.godwit("query", "SELECT count(*) AS n FROM note").lines == ["n", "2"])
  }

  @Test(arguments: [
    ("BEGIN;", "each statement is a transaction of its own"), ("DELETE FROM godwit_log;", "Godwit's own tables"),
    ("PRAGMA user_version = 3;", "settings"), ("UPDATE note SET views = NULL;", "what the table demands"),
    (".nothing\n", "see: .help"), (".mode xml\n", "table, json, csv, line"), (".schema nothing\n", ".tables"),
    ("WITH one AS (SELECT 1) DELETE FROM note WHERE nothing;", "sqlite_master"),
  ])
  func whatIsRefusedHasAHint(input: String, hint: String) async throws {
    let (desk, _) = try await Machine.pair()
    let before = try desk.digest()
    let outcome = try shell(desk, input)
    #expect(outcome.status == 1 && outcome.output.isEmpty)
    #expect(outcome.error.contains("godwit: hint: ") && outcome.error.contains(hint), "\(outcome.error)")
    #expect(try desk.digest() == before)
  }

  @Test func aStatementThatIsCutOffDoesNotRun() async throws {
    let (desk, _) = try await Machine.pair()
    let outcome = try shell(desk, "DELETE FROM note")
    #expect(outcome.status == 1 && outcome.error.contains("does not end with a semicolon"), "\(outcome.error)")
    #expect(try desk.godwit("query", "SELECT count(*) AS n FROM note").lines == ["n", "3"])
    #expect(try shell(desk, "SELECT 1 AS one;\n-- the end").status == 0)
  }

  @Test func rowsAreShownInEachMode() async throws {
    let machine = try Machine("modes")
    try #require(try machine.godwit("init").status == 0)
    let query = "SELECT 7 AS a, 'x,\"y' AS text, NULL AS n, x'0a' AS b, '' AS e UNION ALL SELECT 8, 'z', 1, 2, 3;\n"

    let outcome = try shell(machine, ".mode csv\n\(query).mode line\n\(query).mode json\n\(query).mode table\n\(query)")

    #expect(outcome.status == 0 && outcome.error.isEmpty, "\(outcome.error)")
    #expect(
      outcome.text == """
        a,text,n,b,e
        7,"x,""y",,x'0a',""
        8,z,1,2,3
           a = 7
        text = x,"y
           n = NULL
           b = x'0a'
           e =\u{20}

           a = 8
        text = z
           n = 1
           b = 2
           e = 3
        {"a":7,"text":"x,\\"y","n":null,"b":{"$blob":"0a"},"e":""}
        {"a":8,"text":"z","n":1,"b":2,"e":3}
        a  text     n  b      e
        7  x,"y  NULL  x'0a'
        8  z        1  2      3

        """)
  }

  @Test func commandsShowTheTablesAndWhatMadeThem() async throws {
    let (desk, _) = try await Machine.pair()
    try await desk.makeLocalTable()

    let outcome = try shell(
      desk,
      "CREATE VIEW titles AS SELECT title FROM note;\n.tables\n.schema titles\n.schema NOTE\n.help\n.quit\nSELEKT;\n")

    #expect(outcome.status == 0, "\(outcome.error)")
    #expect(
      Array(outcome.lines.prefix(5)) == [
        "table   kind", "draft   local", "note    synced", "titles  view",
        "CREATE VIEW titles AS SELECT title FROM note;",
      ])
    #expect(outcome.lines.dropFirst(5).first?.hasPrefix("CREATE TABLE") == true, "\(outcome.text)")
    #expect(!outcome.text.contains("TRIGGER") && !outcome.text.contains("godwit_log"), "\(outcome.text)")
    #expect(outcome.error.contains(".mode table|json|csv|line"))
  }

  @Test func theJSONIsOfOneLineForEachRowAndEachWrite() async throws {
    let (desk, _) = try await Machine.pair()
    let outcome = try shell(
      desk, "SELECT views FROM note WHERE views < 3 ORDER BY views;\nDELETE FROM note;\n.tables\n.schema\n", "--json")
    #expect(outcome.status == 0 && outcome.error.isEmpty, "\(outcome.error)")
    #expect(
      Array(outcome.lines.prefix(4)) == [
        "{\"views\":1}", "{\"views\":2}", "{\"changed\":3}", "{\"table\":\"note\",\"kind\":\"synced\"}",
      ])
    #expect(Set(try #require(try outcome.objects().last).keys) == ["name", "sql"])
  }

  @Test func aHistoryIsWrittenOnlyWhenAskedForAndForTheUserAlone() async throws {
    let (desk, _) = try await Machine.pair()
    func files() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: desk.folder).sorted() }
    let before = try files()
    try #require(try shell(desk, "SELECT 1;\n").status == 0)
    #expect(try files() == before)

    try #require(
      try shell(desk, "UPDATE note SET title = 'once'; SELECT 1 -- one\n;\n", "--history", "past").status == 0)
    try #require(try shell(desk, "SELECT 2;\n", "--history", "past").status == 0)

    #expect(
      String(decoding: try desk.read("past"), as: UTF8.self)
        == "UPDATE note SET title = 'once'\n;\nSELECT 1 -- one\n\n;\nSELECT 2\n;\n")
    var status = stat()
    #expect(stat(desk.path("past"), &status) == 0 && status.st_mode & 0o777 == 0o600)
    #expect(try desk.godwit("exec", "--file", "past").status == 0)
    let inside = try shell(desk, "SELECT 1;\n", "--history", ".godwit/past")
    #expect(inside.status == 1 && inside.error.contains("own folder"), "\(inside.error)")
    chmod(desk.path("past"), 0o644)
    #expect(try shell(desk, "SELECT 1;\n", "--history", "past").error.contains("open to other users"))
  }

  // MARK: At a terminal

  private static let script = "/usr/bin/script"
  private static var hasScript: Bool { FileManager.default.isExecutableFile(atPath: script) }

  /// The shell with a terminal for all three streams, which `script` (util-linux) provides.
  private final class Typist {
    private let process: Process
    private let (input, output) = (Pipe(), Pipe())
    private(set) var text = ""

    init(_ machine: Machine) throws {
      process = machine.process(["-qec", "exec \(Program.path) shell", "/dev/null"], environment: ["NO_COLOR": "1"])
      process.executableURL = URL(fileURLWithPath: ShellTests.script)
      process.standardInput = input
      process.standardOutput = output
      try process.run()
    }

    deinit { if process.isRunning { process.terminate() } }

    /// Waits for the text in what comes. Types the keys, if any, each time that nothing has come for a while. False
    /// when the program ends, or has been typed to for too long.
    func awaits(_ wanted: String, typing keys: String? = nil) throws -> Bool {
      let handle = output.fileHandleForReading
      var fresh = ""
      var typed = 0
      while !fresh.contains(wanted) {
        if let keys {
          var awaited = pollfd(fd: handle.fileDescriptor, events: Int16(POLLIN), revents: 0)
          guard poll(&awaited, 1, 500) > 0 else {
            typed += 1
            guard typed < 100 else { return false }
            try type(keys)
            continue
          }
        }
        let data = handle.availableData
        guard !data.isEmpty else { return false }
        fresh += String(decoding: data, as: UTF8.self)
        text += String(decoding: data, as: UTF8.self)
      }
      return true
    }

    func type(_ keys: String) throws { try input.fileHandleForWriting.write(contentsOf: Data(keys.utf8)) }

    func finish() -> Int32 {
      text += String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      process.waitUntilExit()
      return process.terminationStatus
    }
  }

  @Test(.enabled(if: hasScript, "script(1) is not installed"))
  func anErrorEndsNothingAtATerminalAndControlCDropsWhatWasTyped() async throws {
    let (desk, _) = try await Machine.pair()
    let typist = try Typist(desk)

    try #require(try typist.awaits("godwit> "), "\(typist.text)")
    try typist.type("SELEKT 1;\n")
    try #require(try typist.awaits("godwit> "), "\(typist.text)")
    try typist.type("DELETE FROM note\n")
    try #require(try typist.awaits("   ...> "), "\(typist.text)")
    try typist.type("\u{3}")
    try #require(try typist.awaits("godwit> "), "\(typist.text)")
    try typist.type("SELECT 7 AS seven;\n")
    try #require(try typist.awaits("godwit> "), "\(typist.text)")
    try typist.type("\u{4}")

    #expect(typist.finish() == 0)
    #expect(typist.text.contains("godwit: error: near \"SELEKT\": syntax error"), "\(typist.text)")
    #expect(typist.text.contains("seven\r\n    7\r\n"), "\(typist.text)")
    #expect(try desk.godwit("query", "SELECT count(*) AS n FROM note").lines == ["n", "3"])
  }

  @Test(.enabled(if: hasScript, "script(1) is not installed"))
  func controlCEndsTheStatementThatRuns() async throws {
    let (desk, _) = try await Machine.pair()
    let typist = try Typist(desk)

    try #require(try typist.awaits("godwit> "), "\(typist.text)")
    try typist.type(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) DELETE FROM note WHERE (SELECT max(i) FROM n);\n"
    )
    // One that comes before the statement runs ends nothing.
    try #require(try typist.awaits("interrupted", typing: "\u{3}"), "\(typist.text)")
    try typist.type(".quit\n")

    #expect(typist.finish() == 0)
    #expect(try desk.godwit("query", "SELECT count(*) AS n FROM note").lines == ["n", "3"])
  }
}
