import Foundation
import GodwitKeys
import GodwitStorage
import Synchronization
import TestFolders
import Testing

@testable import Godwit
@testable import GodwitEngine

struct SourceCustomer: Model {
  static let schema = Schema<Self>("customer", sync: .local) {
    Column("name", \.name)
    Column("isActive", \.isActive)
    Column("since", \.since)
    Index(\.name).unique()
  }
  var id = 0
  var name = ""
  var isActive = true
  var since: String?
}

@Suite("A replica of another program's database", .timeLimit(.minutes(1)))
struct SourceTests {
  let folder: TemporaryFolder
  /// Where the other program's database is.
  let database: String
  var path: String { folder.file("replica") }

  init() throws {
    folder = try TemporaryFolder()
    database = try TestFolder.plaintext("source.db", in: folder.path)
  }

  /// What is in the folder and beside the database, without the replica.
  func names() throws -> Set<String> {
    try Set(FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { !$0.hasPrefix("replica") })
  }

  func source(_ statements: String) throws -> DatabaseSource {
    .plaintext(at: try SourceDatabase(database, statements).path)
  }

  /// Nothing is made of a source that is refused, and nothing of it is changed.
  func expectRefused(
    _ source: DatabaseSource, _ expected: GodwitError.Code, at location: SourceLocation = #_sourceLocation
  ) async throws {
    let before = try Data(contentsOf: URL(fileURLWithPath: database))
    let names = try names()
    let error = await failure { try await Replica.make(at: path, from: source, reader: .tested) }
    #expect(error?.code == expected, "\(String(describing: error))", sourceLocation: location)
    #expect(!FileManager.default.fileExists(atPath: "\(path)/database"), sourceLocation: location)
    #expect(!FileManager.default.fileExists(atPath: "\(path)/keyring"), sourceLocation: location)
    #expect(try Data(contentsOf: URL(fileURLWithPath: database)) == before, sourceLocation: location)
    #expect(try self.names() == names, sourceLocation: location)
  }

  @Test(
    "has its tables with keys, defaults, references, plain indexes and every row, and names the code that it has not",
    arguments: [DatabaseSource.Reader.tested, .thisProcess])
  func everything(reader: DatabaseSource.Reader) async throws {
    let source = try source(SourceDatabase.shop)
    let before = try Data(contentsOf: URL(fileURLWithPath: source.path))
    let report = try await Replica.make(at: path, from: source, reader: reader)

    #expect(try Data(contentsOf: URL(fileURLWithPath: source.path)) == before)
    let virtual = report.leftOut.filter { $0.kind == .virtualTable }.map(\.name)
    #expect(virtual.contains("search") && virtual.contains("search_content"))
    let leftOut = report.leftOut.filter { $0.kind != .virtualTable }
    #expect(
      leftOut.map(\.name) == ["purchase_total", "big", "logged"] && leftOut.map(\.kind) == [.index, .view, .trigger])
    #expect(leftOut[1].sql == "CREATE VIEW big AS SELECT id FROM purchase WHERE total > 10")
    #expect(report.tables.filter { !$0.leftOut.isEmpty }.map { "\($0.name) \($0.leftOut)" } == ["price [\"CHECK\"]"])
    let rows = Dictionary(uniqueKeysWithValues: report.tables.map { ($0.name, $0.rows) })
    #expect(rows == ["customer": 2, "purchase": 2, "line": 3, "ticket": 2, "log": 2, "price": 1, "search_terms": 0])
    let obstacles = report.tables.filter { $0.obstacle != nil }.map(\.name)
    #expect(obstacles == ["log"])
    let replica = try await Replica.open(at: path, configuration: .init(mustExist: true))
    for table in report.tables.filter({ $0.obstacle != nil }) {
      let refused = await error { try await replica.tables.startSync(of: table.name) }
      #expect(refused?.message == "\(table.name) is known to SQLite alone: \(table.obstacle ?? "")")
    }
    func values(_ sql: SQL) async throws -> [[Value]] { try await replica.rows(sql).map(\.values) }
    #expect(
      try await values("SELECT * FROM purchase ORDER BY id") == [
        [.text("a"), .integer(1), .real(12.5), .integer(1), .text("ü"), .blob([0, 1])],
        [.text("b"), .integer(2), .real(3), .null, .null, .null],
      ])
    #expect(
      try await values("SELECT at, what FROM log ORDER BY at") == [
        [.integer(1), .text("x")], [.real(2.5), .blob([0xFF])],
      ])
    #expect(try await values("SELECT since FROM customer ORDER BY id") == [[.text("2020-01-01")], [.null]])
    let triggersAndViews =
      "SELECT count(*) FROM sqlite_master WHERE type IN ('view', 'trigger') AND name NOT LIKE 'godwit%'"
    #expect(try await values(SQL(text: triggersAndViews)) == [[.integer(0)]])
    try await replica.write { tx in
      try tx.execute("INSERT INTO ticket (text) VALUES ('four')")
      try tx.execute("INSERT INTO purchase (id) VALUES ('c')")
      try tx.execute("INSERT INTO customer (id, name) VALUES (3, 'Cy')")
    }
    #expect(try await values("SELECT max(id) FROM ticket") == [[.integer(4)]])
    #expect(try await values("SELECT total, note FROM purchase WHERE id = 'c'") == [[.real(0.5), .text("it's")]])
    #expect(
      await code { try await replica.write { try $0.execute("INSERT INTO purchase VALUES ('d', 9, 1, 1, '', '')") } }
        == .constraint)
    // Who trusts the database runs what it said.
    let view = leftOut[1].sql
    try await replica.write { try $0.execute(SQL(text: view)) }
    #expect(try await values("SELECT id FROM big") == [[.text("a")]])
    try await replica.write { try $0.execute("DELETE FROM line WHERE purchase = 'a'") }
    try await replica.write { try $0.execute("DELETE FROM customer WHERE id = 1") }
    #expect(try await values("SELECT count(*) FROM purchase WHERE id = 'a'") == [[.integer(0)]])
    #expect(try await replica.maintenance.verify().isSound)
    await replica.close()
  }

  @Test("opens with models of the same shape, and its rows begin to travel")
  func models() async throws {
    _ = try await Replica.make(at: path, from: try source(SourceDatabase.shop), name: "desk", reader: .tested)
    let replica = try await Replica.open(at: path, models: SourceCustomer.self)
    #expect(try await replica.fetch(SourceCustomer.all).map(\.name).sorted() == ["Ada", "Bo"])
    await replica.close()
    let tool = try await Replica.open(at: path, configuration: .init(mustExist: true))
    #expect(try await tool.tables.startSync(of: "customer") == 2)
    #expect(try await tool.tables.startSync(of: "purchase") == 2)
    #expect(try await tool.status().tables.map(\.name).sorted() == ["customer", "purchase"])
    #expect(await code { try await tool.tables.startSync(of: "ticket") } == .invalidSchema)
    #expect(await code { try await tool.tables.startSync(of: "log") } == .notInSchema)
    #expect(try await tool.members.list().map(\.name) == ["desk"])
    #expect(try await tool.maintenance.verify().isSound)
    await tool.close()
  }

  @Test(
    "is not made of names that SQL quotes or nobody sees, and says what to rename",
    arguments: [
      (
        "CREATE TABLE \"x\"\";DROP TABLE y;--\" (a INTEGER PRIMARY KEY)",
        "\"x<U+0022><U+003B>DROP TABLE y<U+003B>--\" holds U+0022"
      ),
      ("CREATE TABLE y (\"../a\" INTEGER PRIMARY KEY)", "\"<U+002E><U+002E><U+002F>a\" holds U+002E"),
      ("CREATE TABLE y (a INTEGER PRIMARY KEY, \"b'c\" TEXT)", "\"b<U+0027>c\" holds U+0027"),
      ("CREATE TABLE y (a INTEGER PRIMARY KEY, \"b\u{202E}c\" TEXT)", "\"b<U+202E>c\" holds U+202E"),
    ])
  func namesThatAreNoNames(statement: String, problem: String) async throws {
    let source = try source(statement)
    let failure = await error { _ = try await Replica.make(at: path, from: source, reader: .tested) }
    #expect(
      failure?.code == .invalidSchema && failure?.message.contains(problem) == true, "\(String(describing: failure))")
    #expect(failure?.hint?.contains("RENAME") == true)
    #expect(!FileManager.default.fileExists(atPath: path + "/database"))
  }

  @Test("keeps names of any script, with spaces and dashes, and refuses those that are Godwit's")
  func namesOfAnyScript() async throws {
    let source = try source(
      """
      CREATE TABLE "größe der-sache" (id INTEGER PRIMARY KEY, "名前 1" TEXT);
      INSERT INTO "größe der-sache" VALUES (1, 'kept');
      """)
    let report = try await Replica.make(at: path, from: source, reader: .tested)
    #expect(report.tables.map(\.name) == ["größe der-sache"])
    let replica = try await Replica.open(at: path, configuration: .init(mustExist: true))
    let kept = try await replica.rows("SELECT \"名前 1\" FROM \"größe der-sache\"")
    #expect(kept.map(\.values) == [[.text("kept")]])
    await replica.close()
    try FileManager.default.removeItem(atPath: path)
    unlink(source.path)
    try await expectRefused(try self.source("CREATE TABLE Godwit_log (a)"), .invalidSchema)
  }

  @Test("is not made of what is no database, is encrypted, damaged, or has changes beside it")
  func refused() async throws {
    let plain = database
    try Data(repeating: 0x41, count: 8_192).write(to: URL(fileURLWithPath: plain))
    try await expectRefused(.plaintext(at: plain), .notADatabase)
    try await expectRefused(.sqlcipher(at: plain, openedBy: .passphrase("wrong")), .wrongKey)
    try Data().write(to: URL(fileURLWithPath: plain))
    try await expectRefused(.plaintext(at: plain), .notADatabase)
    try await expectRefused(.sqlcipher(at: plain, openedBy: .passphrase("wrong")), .notADatabase)
    unlink(plain)
    _ = try source(SourceDatabase.shop)
    try await expectRefused(.sqlcipher(at: plain, openedBy: .passphrase("wrong")), .plaintextDatabase)
    try Data([1]).write(to: URL(fileURLWithPath: plain + "-wal"))
    try await expectRefused(.plaintext(at: plain), .busy)
    unlink(plain + "-wal")
    var content = try Data(contentsOf: URL(fileURLWithPath: plain))
    for offset in 4_096..<8_192 { content[offset] = 0x5A }
    try content.write(to: URL(fileURLWithPath: plain))
    try await expectRefused(.plaintext(at: plain), .damagedDatabase)
    let missing = DatabaseSource.plaintext(at: folder.file("missing"))
    #expect(await code { try await Replica.make(at: path, from: missing, reader: .tested) } == .fileAccess)
  }

  @Test("has plain tables where no definition can say them, with their indexes and keys, and what refers to them")
  func plainTables() async throws {
    let source = try source(
      """
      CREATE TABLE price (code TEXT COLLATE NOCASE PRIMARY KEY, cents INTEGER DEFAULT 7 NOT NULL);
      CREATE TABLE offer (id INTEGER PRIMARY KEY, price TEXT REFERENCES price, text TEXT);
      CREATE INDEX offer_text ON offer (text);
      CREATE TABLE loose (a INT, b TEXT, PRIMARY KEY (a));
      CREATE TABLE pair (a, b, UNIQUE (a, b)); CREATE INDEX pair_falling ON pair (b DESC);
      INSERT INTO price (code) VALUES ('a'); INSERT INTO offer VALUES (1, 'A', 'a');
      INSERT INTO loose VALUES (NULL, 'x'), (NULL, 'y'), (3, 'z'); INSERT INTO pair VALUES (1, '1'), (x'01', NULL);
      """)
    let report = try await Replica.make(at: path, from: source, reader: .tested)
    #expect(
      report.tables.map(\.obstacle) == [
        "it has COLLATE in its definition", "it refers to a plain table", "it has rows without a key",
        "it has no primary key",
      ])
    #expect(report.tables.map(\.rows) == [1, 1, 3, 2] && report.leftOut.map(\.name) == ["pair_falling"])
    let replica = try await Replica.open(at: path, configuration: .init(mustExist: true))
    func values(_ sql: SQL) async throws -> [[Value]] { try await replica.rows(sql).map(\.values) }
    let indexes = try await values(
      "SELECT name FROM sqlite_master WHERE type = 'index' AND name LIKE 'index%' ORDER BY name")
    #expect(indexes == [["index_loose_on_a"], ["index_offer_on_text"], ["index_pair_on_a_and_b"]])
    #expect(try await values("SELECT a, b FROM loose ORDER BY b") == [[.null, "x"], [.null, "y"], [3, "z"]])
    #expect(try await values("SELECT a, b FROM pair ORDER BY b") == [[.blob([1]), .null], [1, "1"]])
    try await replica.write { tx in
      try tx.execute("INSERT INTO price (code) VALUES ('b')")
      try tx.execute("INSERT INTO offer (text) VALUES ('numbered')")
    }
    #expect(try await values("SELECT cents FROM price WHERE code = 'b'") == [[7]])
    #expect(try await values("SELECT id FROM offer WHERE text = 'numbered'") == [[2]])
    for statement: SQL in [
      "INSERT INTO price (code) VALUES ('b')", "INSERT INTO loose VALUES (3, 'w')", "INSERT INTO pair VALUES (1, '1')",
    ] {
      #expect(await code { try await replica.write { try $0.execute(statement) } } == .constraint)
    }
    #expect(try await replica.maintenance.verify().isSound)
    await replica.close()
  }

  @Test("has every value as it was stored, whatever the column is declared as")
  func oddValues() async throws {
    let source = try source(
      """
      CREATE TABLE word (id INT PRIMARY KEY, x); INSERT INTO word VALUES ('abc', 1), (5, 2);
      CREATE TABLE cost (id INTEGER PRIMARY KEY, exact DECIMAL, mixed DECIMAL);
      INSERT INTO cost VALUES (1, 9007199254740993, 3), (2, 2.5, 0.5);
      """)
    let report = try await Replica.make(at: path, from: source, reader: .tested)
    #expect(report.tables.allSatisfy { $0.obstacle == nil })
    let replica = try await Replica.open(at: path, configuration: .init(mustExist: true))
    func values(_ sql: SQL) async throws -> [[Value]] { try await replica.rows(sql).map(\.values) }
    #expect(try await values("SELECT id, x FROM word ORDER BY x") == [["abc", 1], [5, 2]])
    #expect(
      try await values("SELECT exact, mixed FROM cost ORDER BY id") == [
        [.integer(9_007_199_254_740_993), 3.0], [2.5, 0.5],
      ])
    await replica.close()
    unlink(source.path)
    try FileManager.default.removeItem(atPath: path)
    let columns = (0...999).map { "c\($0)" }.joined(separator: ", ")
    try await expectRefused(try self.source("CREATE TABLE wide (\(columns))"), .limitExceeded)
  }

  @Test("keeps what is unique, or says that it does not")
  func uniqueness() async throws {
    let source = try source(
      """
      CREATE TABLE falling (id INTEGER PRIMARY KEY, a TEXT, UNIQUE (a DESC));
      CREATE TABLE folded (id INTEGER PRIMARY KEY, a TEXT DEFAULT 'x'COLLATE NOCASE UNIQUE);
      CREATE TABLE loose (a TEXT PRIMARY KEY, b); CREATE INDEX loose_a ON loose (a);
      CREATE TABLE noted (id INTEGER PRIMARY KEY /* no AUTOINCREMENT */, z INT CHECK/**/(z > 0));
      CREATE INDEX same ON noted (z); CREATE TRIGGER same AFTER INSERT ON noted BEGIN SELECT 1; END;
      INSERT INTO loose VALUES (NULL, 1), (NULL, 2), ('k', 3);
      """)
    let report = try await Replica.make(at: path, from: source, reader: .tested)
    #expect(report.tables.map(\.leftOut) == [["UNIQUE (a)"], ["UNIQUE (a)"], [], ["CHECK"]])
    #expect(report.tables.map { $0.obstacle == nil } == [true, false, false, true])
    #expect(report.leftOut.map { "\($0.kind) \($0.name)" } == ["trigger same"])
    let replica = try await Replica.open(at: path, configuration: .init(mustExist: true))
    #expect(
      await code { try await replica.write { try $0.execute("INSERT INTO loose VALUES ('k', 4)") } } == .constraint)
    #expect(try await replica.tables.startSync(of: "noted") == 0)
    await replica.close()
  }

  /// SQLite has them, or makes others of them.
  @Test(
    "is not made of a schema that hides a table, or calls something else one",
    arguments: [
      "UPDATE sqlite_master SET type = 'TABLE' WHERE name = 'h'",
      "UPDATE sqlite_master SET name = 'sqlite_h', tbl_name = 'sqlite_h', sql = 'CREATE TABLE sqlite_h (id INTEGER PRIMARY KEY, v)' WHERE name = 'h'",
      "INSERT INTO sqlite_master VALUES ('table', 'v', 'v', 0, 'CREATE VIEW v AS SELECT id AS id, v||sqlite_version() AS v FROM h')",
    ])
  func hiding(statement: String) async throws {
    try await expectRefused(
      source(
        """
        CREATE TABLE h (id INTEGER PRIMARY KEY, v); INSERT INTO h VALUES (1, 'x');
        PRAGMA writable_schema=ON; \(statement); PRAGMA writable_schema=OFF;
        """), .damagedDatabase)
  }

  /// Each ended the program, or made it work without end, when the database's own statements ran.
  @Test(
    "runs no SQL of the database's",
    arguments: [
      "CREATE TABLE t (id INTEGER PRIMARY KEY, x CHECK (printf('%d', x) <> ''))",
      "CREATE TABLE t (id INTEGER PRIMARY KEY, x CHECK (x NOT GLOB '*a*a*a*a*a*a*a*a*a*a*a*a*b'))",
      "CREATE TABLE t (id INTEGER PRIMARY KEY, x DEFAULT (hex(zeroblob(999999999))))",
      "CREATE TABLE t (id INTEGER PRIMARY KEY, x); CREATE INDEX i ON t (replace(x, 'a', 'bb'))",
      "CREATE TABLE t (id INTEGER PRIMARY KEY, x); CREATE INDEX i ON t (x) WHERE hex(x) > ''",
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY, x);
      CREATE VIEW v AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n
      """,
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY, x);
      CREATE TRIGGER g AFTER DELETE ON t BEGIN UPDATE t SET x = replace(x, 'a', 'bb'); END
      """,
    ])
  func noCode(statements: String) async throws {
    let report = try await Replica.make(
      at: path, from: source("\(statements); INSERT INTO t (id, x) VALUES (1, 1);"), reader: .tested)
    #expect(report.tables.map(\.name) == ["t"] && report.tables[0].obstacle == nil)
    #expect(report.tables[0].leftOut.isEmpty != report.leftOut.isEmpty)
    let replica = try await Replica.open(at: path, configuration: .init(mustExist: true))
    let own = try await replica.rows("SELECT sql FROM sqlite_master WHERE tbl_name IN ('t', 'v') AND sql IS NOT NULL")
      .map(\.values)
    #expect(own == [["CREATE TABLE \"t\" (\n  \"id\" INTEGER NOT NULL,\n  \"x\",\n  PRIMARY KEY (\"id\")\n)"]])
    #expect(try await replica.rows("SELECT x FROM t WHERE id = 1").map(\.values) == [[1]])
    await replica.close()
  }

  /// A schema written by hand says of a row of its own what another statement makes.
  @Test(
    "makes nothing of what a schema that was written by hand says beside its tables",
    arguments: [
      "('view', 'v', 'v', 0, 'CREATE VIEW hidden AS SELECT 1 AS p')",
      "('view', 'v', 'v', 0, 'CREATE  VIRTUAL TABLE v USING fts3(x)')",
      "('view', 'v', 'v', 0, 'CREATE TABLE v AS SELECT 1 AS a')",
      "('view', 'v', 'v', 0, 'CREATE VIEW v AS SELECT * FROM godwit_meta')",
      "('trigger', 'g', 't', 0, 'CREATE TRIGGER g AFTER INSERT ON t BEGIN INSERT INTO later VALUES (1); END')",
      "('table', 'u', 'u', 0, 'CREATE TABLE v (a)')",
      "('table', 'v', 'v', 0, 'CREATE VIEW v AS SELECT * FROM t')",
    ])
  func otherStatements(row: String) async throws {
    let source = try source(
      "CREATE TABLE t (x); INSERT INTO t VALUES (1); PRAGMA writable_schema=ON; INSERT INTO sqlite_master VALUES \(row); PRAGMA writable_schema=OFF;"
    )
    let before = try names()
    do {
      _ = try await Replica.make(at: path, from: source, reader: .tested)
      let replica = try await Replica.open(at: path, configuration: .init(mustExist: true))
      let made =
        "SELECT count(*) FROM sqlite_master WHERE name NOT LIKE 'godwit%' AND name NOT LIKE 'sqlite%' AND type <> 'table'"
      #expect(try await replica.rows(SQL(text: made)).map(\.values) == [[0]])
      #expect(try await replica.maintenance.verify().isSound)
      await replica.close()
    } catch let error as GodwitError {
      #expect(error.code == .damagedDatabase || error.code == .invalidSchema, "\(error)")
    }
    #expect(try names() == before)
  }

  @Test("counts numbers of its own tables alone, not those of Godwit's")
  func numbering() async throws {
    let source = try source(
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, x); INSERT INTO t VALUES (5, 1);
      INSERT INTO sqlite_sequence VALUES ('godwit_conflict', 9223372036854775807);
      """)
    _ = try await Replica.make(at: path, from: source, reader: .tested)
    let replica = try await Replica.open(at: path, configuration: .init(mustExist: true))
    let numbers = try await replica.rows("SELECT name, seq FROM sqlite_sequence WHERE seq > 0").map(\.values)
    #expect(numbers == [["t", 5]])
    await replica.close()
  }
}
