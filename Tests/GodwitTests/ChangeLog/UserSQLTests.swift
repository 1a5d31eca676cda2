import Foundation
import Godwit
import Testing

@Suite("SQL of the program's own")
struct UserSQLTests {
  private let group: TestGroup

  init() async throws {
    group = try await TestGroup(1)
    try await group[0].write { try $0.insert(Note()) }
  }

  private static let forbidden = [
    "BEGIN", "COMMIT", "ROLLBACK", "END", "SAVEPOINT s", "RELEASE s", "ROLLBACK TO s",
    "ATTACH ':memory:' AS other", "DETACH main", "PRAGMA key = 'x'", "PRAGMA rekey = 'x'",
    "PRAGMA journal_mode = DELETE", "PRAGMA foreign_keys = OFF", "PRAGMA recursive_triggers = OFF",
    "PRAGMA writable_schema = ON", "PRAGMA cipher_compatibility = 4", "VACUUM",
    "DROP TABLE note", "DROP TABLE godwit_log", "DROP TRIGGER godwit_2_insert", "DROP TRIGGER godwit_1_delete",
    "ALTER TABLE note ADD COLUMN more TEXT", "ALTER TABLE note RENAME TO other",
    "INSERT INTO godwit_meta VALUES ('x', 1)", "UPDATE godwit_log SET hlc = 0", "DELETE FROM godwit_log",
    "DELETE FROM GODWIT_LOG", "INSERT OR REPLACE INTO godwit_origin SELECT * FROM godwit_origin",
    "UPDATE sqlite_master SET sql = ''", "DELETE FROM sqlite_master",
    "CREATE TABLE godwit_mine (a)", "CREATE TRIGGER godwit_mine AFTER INSERT ON note BEGIN SELECT 1; END",
    "CREATE TEMP TRIGGER godwit_mine AFTER INSERT ON note BEGIN SELECT godwit_insert(2, 0, 'x'); END",
    "CREATE TRIGGER own AFTER INSERT ON godwit_log BEGIN DELETE FROM note; END",
    "CREATE INDEX own ON godwit_log (hlc)", "SELECT godwit_insert(2, 0, 'x')", "SELECT godwit_delete(2, 0, 'x')",
    "WITH godwit_c(v) AS (SELECT godwit_insert(2, 0, 'x')) SELECT v FROM godwit_c",
    "WITH godwit_c(v) AS (SELECT \"GODWIT_update\"(2, 0, 'x', 'y')) INSERT INTO note SELECT v, v FROM godwit_c",
    "CREATE TRIGGER own AFTER INSERT ON note BEGIN DELETE FROM note WHERE id IN "
      + "(WITH godwit_c(v) AS (SELECT godwit_insert(2, 0, 'x')) SELECT v FROM godwit_c); END",
    "SELECT load_extension('x')", "SELECT sqlcipher_export('main')",
  ]

  @Test("cannot end the transaction, change settings or touch what is Godwit's", arguments: forbidden)
  func refused(sql: String) async throws {
    let digest = try await group[0].maintenance.digest()
    let failure = await code { try await group[0].write { try $0.execute(SQL(text: sql)) } }
    #expect(failure == .notAuthorized || failure == .sql)
    #expect(try await group[0].maintenance.digest() == digest)
    #expect(try await group[0].maintenance.verify().problems == [])
    try await group[0].write { try $0.insert(Note()) }
    #expect(try await group[0].history.log().map(\.sequence) == [2, 1])
  }

  @Test(
    "is refused", arguments: ["COMMIT", "DROP TABLE note", "DELETE FROM godwit_log", "PRAGMA key = 'x'"])
  func notAuthorized(sql: String) async throws {
    #expect(await code { try await group[0].write { try $0.execute(SQL(text: sql)) } } == .notAuthorized)
  }

  @Test("renames no table of its own into Godwit's names")
  func renamed() async throws {
    try await group[0].write { _ = try $0.execute("CREATE TABLE mine (a)") }
    for name in ["godwit_former_3", "\"GODWIT_x\""] {
      let sql = "ALTER TABLE mine RENAME TO \(name)"
      #expect(await code { try await group[0].write { try $0.execute(SQL(text: sql)) } } == .notAuthorized)
    }
    // One that is refused makes nobody else's statement one that alters.
    let code = await code { try await group[0].write { try $0.execute("ALTER TABLE note ADD COLUMN more TEXT") } }
    #expect(code == .notAuthorized)
    try await group[0].write { try $0.execute("UPDATE mine SET a = godwit_is_bool(1)") }
    try await group[0].write { _ = try $0.execute("ALTER TABLE mine RENAME TO yours") }
    #expect(try await group[0].rows("SELECT count(*) AS n FROM yours").first?["n"] == 0)
  }

  @Test(
    "calls the functions that are open to it with as many arguments as they have",
    arguments: [
      "godwit_is_bool()", "godwit_is_bool(1, 2)", "godwit_contains('a')", "godwit_contains('a', 'b', 'c')",
      "godwit_is_in(1)", "godwit_is_in(1, 2)", "godwit_is_in_range()", "godwit_is_in_range(1)",
      "godwit_is_in_range(1, 2, 1)", "godwit_is_in_range(7, 9, 1, 'note')",
    ])
  func argumentCounts(call: String) async throws {
    #expect(await code { try await group[0].rows(SQL(text: "SELECT \(call)")) } == .sql)
    #expect(try await group[0].rows("SELECT godwit_is_bool(1) AS is_bool").first?["is_bool"] == 0)
  }

  @Test("finds that an integer is out of a range that no number is in")
  func emptyRange() async throws {
    let call: SQL = "SELECT godwit_is_in_range(7, 9, 1, 'note', 'views', 'key')"
    #expect(await code { try await group[0].rows(call) } == .valueNotStorable)
  }

  @Test("that was compiled when it was harmless is looked at again once it is not")
  func recompiled() async throws {
    let statement: SQL = "DROP TABLE IF EXISTS documents_accounts"
    try await group[0].write { _ = try $0.execute(statement) }
    try await group[0].documents("accounts").set("ada", ["name": "Ada"])
    #expect(await code { try await group[0].write { try $0.execute(statement) } } == .notAuthorized)
    #expect(try await group[0].documents("accounts").get("ada") != nil)
  }

  @Test("cannot reach Godwit's tables through a trigger or view of its own")
  func throughATrigger() async throws {
    try await group[0].write { transaction in
      _ = try? transaction.execute("CREATE TRIGGER own AFTER DELETE ON note BEGIN DELETE FROM godwit_log; END")
      _ = try? transaction.execute(
        "CREATE TRIGGER other AFTER DELETE ON note BEGIN SELECT godwit_insert(2, 0, OLD.id); END")
    }
    _ = await code { try await group[0].write { _ = try $0.execute("DELETE FROM note") } }
    #expect(try await group[0].maintenance.verify().problems == [])
    #expect(try await group[0].history.log().last?.sequence == 1)
    #expect(try await group[0].history.log().allSatisfy { $0.changes.allSatisfy { $0.inserted <= 1 } })
  }

  @Test(
    "that reads cannot write",
    arguments: [
      "INSERT INTO note (id) VALUES (x'00')", "UPDATE note SET title = 'x'", "DELETE FROM note",
      "CREATE TABLE t (a)", "CREATE TEMP TABLE t (a)", "BEGIN", "DROP TABLE draft", "PRAGMA query_only = OFF",
      "ATTACH ':memory:' AS other", "DELETE FROM draft", "REINDEX", "ANALYZE",
    ])
  func reading(sql: String) async throws {
    let digest = try await group[0].maintenance.digest()
    #expect(await code { try await group[0].rows(SQL(text: sql)) } == .notAuthorized)
    #expect(await code { try await group[0].write { _ = try $0.rows(SQL(text: sql)) } } == .notAuthorized)
    #expect(try await group[0].maintenance.digest() == digest)
  }

  @Test("is one statement", arguments: ["", "  ", "-- nothing", "SELECT 1; DELETE FROM note", "SELECT 1; SELECT 2"])
  func oneStatement(sql: String) async throws {
    #expect(await code { try await group[0].write { try $0.execute(SQL(text: sql)) } } == .sql)
    #expect(try await group[0].count(Note.all) == 1)
  }

  @Test("binds what is interpolated, so that no text becomes SQL")
  func injection() async throws {
    let text = "'); DELETE FROM note; --"
    let changes = try await group[0].write { try $0.execute("UPDATE note SET title = \(text), views = \(3)") }
    #expect(changes == 1)
    let rows = try await group[0].rows("SELECT \(name: "title"), views FROM note WHERE title = \(text)")
    #expect(rows.map(\.values) == [[.text(text), 3]])
  }

  @Test("serves only inside the closure it is handed to")
  func afterTheEnd() async throws {
    final class Kept: @unchecked Sendable { var transaction: Transaction? }
    let kept = Kept()
    try await group[0].write { kept.transaction = $0 }
    let transaction = try #require(kept.transaction)
    #expect(throws: GodwitError.self) { try transaction.insert(Note()) }
    #expect(throws: GodwitError.self) { try transaction.rows("SELECT 1") }
    #expect(try await group[0].count(Note.all) == 1)
  }
}
