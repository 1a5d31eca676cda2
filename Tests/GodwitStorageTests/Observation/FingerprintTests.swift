import GodwitBase
import GodwitStorage
import Testing

@Suite("The fingerprint of the rows read")
struct FingerprintTests {
  private let database: TestDatabase
  private let connection: Connection

  init() throws {
    database = try TestDatabase()
    connection = try database.connect()
  }

  /// Of the statements, each run to its end.
  private func fingerprint(_ statements: [String]) throws -> RowFingerprint {
    try connection.fingerprint {
      for sql in statements { try connection.withStatement(sql) { try $0.run() } }
    }.fingerprint
  }

  @Test("is the same for the same rows")
  func same() throws {
    let sql = "SELECT 1, 2.5, 'text', x'00ff', NULL UNION ALL SELECT 2, -0.5, '', x'', ''"
    #expect(try fingerprint([sql]) == fingerprint([sql]))
    #expect(try fingerprint(["SELECT 3"]) == fingerprint(["SELECT 1 + 2"]))
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
    #expect(try fingerprint(left) != fingerprint(right))
  }

  @Test("leaves out what is read before and after")
  func scope() throws {
    let alone = try fingerprint(["SELECT 1"])
    try connection.withStatement("SELECT 2") { try $0.run() }
    #expect(try fingerprint(["SELECT 1"]) == alone)
  }
}
