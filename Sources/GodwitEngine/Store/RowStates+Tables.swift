import GodwitBase
import GodwitCore
import GodwitStorage

/// The states of many rows.
extension RowStates {
  private static let batchSize = 1_000

  /// Calls the body with the states of a table's rows, in the order of their keys.
  func forEach(of table: Int, _ body: (RowKey, RowState) throws -> Void) throws {
    var (first, end) = RowKey.prefix(of: table)
    let prefixLength = first.count
    let sql = "SELECT key, state FROM godwit_row WHERE key >= ? AND key < ? ORDER BY key LIMIT \(Self.batchSize)"
    while true {
      let batch: [(key: [UInt8], state: RowState)] = try connection.withStatement(sql) { statement in
        try statement.bind([.blob(first), .blob(end)])
        var rows: [(key: [UInt8], state: RowState)] = []
        while try statement.step() {
          var reader = ByteReader(statement.blob(at: 1))
          rows.append((statement.blob(at: 0), try RowState(reading: &reader, origins: origins)))
        }
        return rows
      }
      for row in batch { try body(RowKey(table: table, key: row.key[prefixLength...]), row.state) }
      guard batch.count == Self.batchSize, let last = batch.last else { return }
      first = last.key + [0]
    }
  }

  /// Those with greater keys, as they are stored, so many at most, in the order of their keys.
  static func stored(
    after key: [UInt8], limit: Int, on connection: Connection
  ) throws -> [(key: [UInt8], state: [UInt8])] {
    let sql = "SELECT key, state FROM godwit_row WHERE key > ? ORDER BY key LIMIT ?"
    return try connection.withStatement(sql) { statement in
      try statement.bind([.blob(key), .integer(Int64(limit))])
      var rows: [(key: [UInt8], state: [UInt8])] = []
      while try statement.step() { rows.append((statement.blob(at: 0), statement.blob(at: 1))) }
      return rows
    }
  }

  /// Calls the body with those of all tables, as they are stored, in the order of their keys.
  static func forEachStored(on connection: Connection, _ body: (RowKey, [UInt8]) throws -> Void) throws {
    try connection.withStatement("SELECT key, state FROM godwit_row ORDER BY key") { statement in
      while try statement.step() { try body(RowKey(bytes: statement.blob(at: 0)), statement.blob(at: 1)) }
    }
  }

  static func areNone(on connection: Connection) throws -> Bool {
    try connection.scalar("SELECT 1 FROM godwit_row LIMIT 1") == nil
  }

  func haveAny(of table: Int) throws -> Bool { try Self.haveAny(of: table, on: connection) }

  static func haveAny(of table: Int, on connection: Connection) throws -> Bool {
    try connection.scalar("SELECT 1 FROM godwit_row WHERE key >= ? AND key < ? LIMIT 1", RowKey.range(of: table)) != nil
  }

  /// Removes those of a table.
  static func removeAll(of table: Int, on connection: Connection) throws {
    try connection.run("DELETE FROM godwit_row WHERE key >= ? AND key < ?", RowKey.range(of: table))
  }

  // MARK: Copies

  /// Puts those of a table into another table, which has the columns `key`, `state` and `hidden`.
  static func copy(of table: Int, to copy: String, on connection: Connection) throws {
    try connection.run(
      "INSERT INTO \(copy) SELECT key, state, hidden FROM godwit_row WHERE key >= ? AND key < ?",
      RowKey.range(of: table))
  }

  /// Takes back what ``copy(of:to:on:)`` kept.
  static func bringBack(from copy: String, on connection: Connection) throws {
    try connection.execute("INSERT INTO godwit_row (key, state, hidden) SELECT key, state, hidden FROM \(copy)")
  }
}
