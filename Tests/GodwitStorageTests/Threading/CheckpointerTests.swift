import Foundation
import GodwitBase
import GodwitStorage
import Testing

@Suite("The write-ahead log", .timeLimit(.minutes(1)))
struct CheckpointerTests {
  private let database: TestDatabase
  private let pool: DatabasePool<Connection>

  init() async throws {
    database = try TestDatabase()
    pool = database.pool()
    try await pool.write { try $0.execute("CREATE TABLE t (a INTEGER PRIMARY KEY, b)") }
  }

  private func fill(transactions: Int) async throws {
    for _ in 0..<transactions {
      try await pool.write { connection in
        try connection.execute("BEGIN")
        for _ in 0..<100 { try connection.run("INSERT INTO t (b) VALUES (zeroblob(4000))") }
        try connection.execute("COMMIT")
      }
    }
  }

  private func size(_ suffix: String) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: database.path + suffix)
    return (attributes[.size] as? Int) ?? 0
  }

  @Test("is moved into the database in the background, while the replica stays open")
  func background() async throws {
    try await fill(transactions: 15)
    for _ in 0..<200 where try size("") < 4_000_000 { try await Task.sleep(for: .milliseconds(20)) }
    #expect(try size("") >= 4_000_000)
    #expect(try await pool.read { try $0.scalar("SELECT count(*) FROM t") } == .integer(1_500))
    await pool.close()
  }

  @Test("stays bounded under a writer that never pauses")
  func bounded() async throws {
    try await fill(transactions: 170)
    let most = (8_000 + 2 * 120) * 4_120
    #expect(try size("-wal") <= most)
    #expect(try size("") > 40_000_000)
    await pool.close()
    #expect(!FileManager.default.fileExists(atPath: database.path + "-wal"))
  }
}
