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
    let statement = try database.prepare("SELECT value FROM entry WHERE key = ?")
    defer { sqlite3_finalize(statement) }
    var found = 0
    for key in keys {
      database.bind(key, statement, 1)
      if sqlite3_step(statement) == SQLITE_ROW {
        let value = Data(bytes: sqlite3_column_blob(statement, 0), count: Int(sqlite3_column_bytes(statement, 0)))
        if !value.isEmpty { found += 1 }
      }
      sqlite3_reset(statement)
    }
    return found
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
