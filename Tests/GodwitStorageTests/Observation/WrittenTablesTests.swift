import GodwitBase
import GodwitStorage
import Testing

@Suite("The tables written")
struct WrittenTablesTests {
  private let database: TestDatabase
  private let connection: Connection

  init() throws {
    database = try TestDatabase()
    connection = try database.connect()
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
