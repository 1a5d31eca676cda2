import CSQLCipher
import Foundation

/// What a careful programmer writes who needs bytes by key in an encrypted file: the baseline of the cache.
///
/// Unchecked Sendable: each benchmark uses a value from one task at a time.
final class BareCache: @unchecked Sendable {
  private let database: BareDatabase

  init(_ path: String) throws {
    database = try BareDatabase(path, keyHex: String(repeating: "5a", count: 32))
    try database.configureAsGodwit()
    try database.execute(
      "CREATE TABLE IF NOT EXISTS entry (key TEXT PRIMARY KEY NOT NULL, expires INTEGER, value BLOB NOT NULL)")
  }

  /// How many of the keys have a value, each of which is copied out.
  func get(_ keys: [String]) throws -> Int {
    let statement = try prepareGet()
    return keys.count { statement.get($0) != nil }
  }

  /// The statement that gets a value.
  func prepareGet() throws -> Get {
    Get(database: database, statement: try database.prepare("SELECT value FROM entry WHERE key = ?"))
  }

  /// Unchecked Sendable: as the whole.
  final class Get: @unchecked Sendable {
    private let database: BareDatabase
    private let statement: OpaquePointer?

    fileprivate init(database: BareDatabase, statement: OpaquePointer?) {
      self.database = database
      self.statement = statement
    }

    deinit { sqlite3_finalize(statement) }

    /// A copy of the value under a key.
    func get(_ key: String) -> Data? {
      database.bind(key, statement, 1)
      defer { sqlite3_reset(statement) }
      guard sqlite3_step(statement) == SQLITE_ROW else { return nil }
      return Data(bytes: sqlite3_column_blob(statement, 0), count: Int(sqlite3_column_bytes(statement, 0)))
    }
  }

  /// One transaction of updates, or inserts where there is nothing to update: SQLite 3.15 has no upsert.
  func upsert(_ keys: [String], _ value: Data) throws {
    let update = try database.prepare("UPDATE entry SET expires = NULL, value = ? WHERE key = ?")
    let insert = try database.prepare("INSERT INTO entry (expires, value, key) VALUES (NULL, ?, ?)")
    defer { for statement in [update, insert] { sqlite3_finalize(statement) } }
    try database.execute("BEGIN IMMEDIATE")
    for key in keys {
      try run(update, key, value)
      if sqlite3_changes(database.handle) == 0 { try run(insert, key, value) }
    }
    try database.execute("COMMIT")
  }

  private func run(_ statement: OpaquePointer?, _ key: String, _ value: Data) throws {
    let code = value.withUnsafeBytes { bytes in
      sqlite3_bind_blob(statement, 1, bytes.baseAddress, Int32(bytes.count), nil)
      database.bind(key, statement, 2)
      return sqlite3_step(statement)
    }
    sqlite3_reset(statement)
    guard code == SQLITE_DONE else { throw BareDatabase.Failure(code: code) }
  }
}
