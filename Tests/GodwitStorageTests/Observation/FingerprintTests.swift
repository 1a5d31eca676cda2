import GodwitBase
import GodwitStorage
import Testing

@Suite("The fingerprint of the rows read")
struct FingerprintTests {
  private let connection: Connection

  init() throws { connection = try TestDatabase().connect() }

  /// Of the statements, each run to its end.
  private func fingerprint(_ statements: String...) throws -> RowFingerprint {
    try connection.fingerprint {
      for sql in statements { try connection.withStatement(sql) { try $0.run() } }
    }.fingerprint
  }

  @Test("is the same for the same rows")
  func same() throws {
    let sql = "SELECT 1, 2.5, 'text', x'00ff', NULL UNION ALL SELECT 2, -0.5, '', x'', ''"
    #expect(try fingerprint(sql) == fingerprint(sql))
    #expect(try fingerprint("SELECT 3") == fingerprint("SELECT 1 + 2"))
  }

  @Test(
    "differs when a value, a storage class or a boundary differs",
    arguments: [
      (["SELECT 1"], ["SELECT 2"]),
      (["SELECT 1"], ["SELECT 1.0"]),
      (["SELECT 1"], ["SELECT '1'"]),
      (["SELECT 'a'"], ["SELECT x'61'"]),
      (["SELECT ''"], ["SELECT x''"]),
      (["SELECT x''"], ["SELECT NULL"]),
      (["SELECT 0"], ["SELECT NULL"]),
      (["SELECT 0.0"], ["SELECT -0.0"]),
      (["SELECT 'ab', 'c'"], ["SELECT 'a', 'bc'"]),
      (["SELECT 1, 2"], ["SELECT 1 UNION ALL SELECT 2"]),
      (["SELECT 1 UNION ALL SELECT 2"], ["SELECT 2 UNION ALL SELECT 1"]),
      (["SELECT 1 UNION ALL SELECT 1"], ["SELECT 1"]),
      (["SELECT 1 UNION ALL SELECT 2"], ["SELECT 1", "SELECT 2"]),
      (["SELECT 1 WHERE 0"], []),
      (["SELECT NULL"], ["SELECT 1 WHERE 0"]),
    ])
  func different(left: [String], right: [String]) throws {
    func fingerprint(_ statements: [String]) throws -> RowFingerprint {
      try connection.fingerprint {
        for sql in statements { try connection.withStatement(sql) { try $0.run() } }
      }.fingerprint
    }
    #expect(try fingerprint(left) != fingerprint(right))
  }

  @Test("leaves out what is read before and after")
  func scope() throws {
    let alone = try fingerprint("SELECT 1")
    try connection.withStatement("SELECT 2") { try $0.run() }
    #expect(try fingerprint("SELECT 1") == alone)
  }
}

@Suite("The tables written")
struct WrittenTablesTests {
  private let connection: Connection

  init() throws {
    connection = try TestDatabase().connect()
    try connection.execute(
      """
      CREATE TABLE Parent (id INTEGER PRIMARY KEY, name UNIQUE);
      CREATE TABLE child (id INTEGER PRIMARY KEY, parent REFERENCES parent ON DELETE CASCADE);
      CREATE TABLE keyed (key TEXT PRIMARY KEY) WITHOUT ROWID;
      CREATE TABLE copy (id);
      CREATE TABLE other (id)
      """)
    _ = connection.takeWrittenTables()
  }

  private func written(by sql: String) throws -> TableSet {
    try connection.withStatement(sql, authority: .user) { try $0.run() }
    return connection.takeWrittenTables()
  }

  @Test("are those of the statement, by whatever way it writes")
  func direct() throws {
    #expect(try written(by: "SELECT * FROM other") == .none)
    #expect(try written(by: "INSERT INTO child DEFAULT VALUES") == TableSet(["child"]))
    #expect(try written(by: "REPLACE INTO keyed VALUES ('a')") == TableSet(["keyed"]))
    #expect(try written(by: "UPDATE other SET id = 1") == TableSet(["other"]))
    #expect(try written(by: "DELETE FROM other") == TableSet(["other"]))
    #expect(try written(by: "DELETE FROM parent") == TableSet(["parent", "child"]))
  }

  @Test("are named each time a cached statement runs")
  func cached() throws {
    for _ in 0..<3 { #expect(try written(by: "INSERT INTO other VALUES (1)") == TableSet(["other"])) }
  }

  @Test("include those of a trigger that came after the statement was compiled, and of one turned on again")
  func triggers() throws {
    let insert = "INSERT INTO other VALUES (1)"
    #expect(try written(by: insert) == TableSet(["other"]))
    try connection.execute("CREATE TRIGGER t AFTER INSERT ON other BEGIN DELETE FROM copy; END")
    #expect(connection.takeWrittenTables() == .all)
    try connection.setTriggers(false)
    #expect(try written(by: insert) == TableSet(["other"]))
    try connection.setTriggers(true)
    #expect(try written(by: insert) == TableSet(["other", "copy"]))
    #expect(try written(by: insert) == TableSet(["other", "copy"]))
  }

  @Test("are all when the schema changes")
  func schema() throws {
    #expect(try written(by: "CREATE TABLE new (id)") == .all)
    #expect(try written(by: "ALTER TABLE new RENAME TO newer") == .all)
    #expect(try written(by: "DROP TABLE newer") == .all)
  }

  @Test("meet those read without regard to case")
  func meeting() {
    #expect(TableSet(["Note"]).meets(TableSet(["nOTE", "folder"])))
    #expect(!TableSet(["note"]).meets(TableSet(["folder"])))
    #expect(TableSet.all.meets(TableSet(["note"])) && TableSet(["note"]).meets(.all) && TableSet.all.meets(.all))
    #expect(!TableSet.none.meets(.all) && !TableSet.all.meets(.none) && !TableSet.none.meets(.none))
  }
}
