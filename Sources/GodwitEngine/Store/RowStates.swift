import GodwitBase
import GodwitCore
import GodwitStorage

/// The stored ``RowState`` of each row that has one (`godwit_row`).
struct RowStates {
  static let creation = """
    CREATE TABLE godwit_row (key BLOB PRIMARY KEY NOT NULL, state BLOB NOT NULL, hidden INTEGER NOT NULL) WITHOUT ROWID;
    CREATE INDEX godwit_row_hidden ON godwit_row (key) WHERE hidden;
    """

  let connection: Connection
  let origins: OriginTable

  func load(_ key: RowKey) throws -> RowState? {
    try connection.withStatement("SELECT state FROM godwit_row WHERE key = ?") { statement in
      try statement.bind(blob: key.bytes, at: 1)
      guard try statement.step() else { return nil }
      var reader = ByteReader(statement.blob(at: 0))
      return try RowState(reading: &reader, origins: origins)
    }
  }

  /// Two statements that break no constraint, for one that replaces may have to be undone: SQLite would encrypt a copy
  /// of each page first that it changes.
  func save(_ state: RowState, for key: RowKey) throws {
    var writer = ByteWriter(capacity: 32)
    try state.write(to: &writer, origins: origins)
    let update = "UPDATE OR FAIL godwit_row SET state = ?, hidden = ? WHERE key = ?"
    if try run(update, key, writer.bytes, isHidden: state.hiddenCells != nil) { return }
    _ = try run(
      "INSERT OR FAIL INTO godwit_row (state, hidden, key) VALUES (?, ?, ?)", key, writer.bytes,
      isHidden: state.hiddenCells != nil)
  }

  /// Returns whether there was a row to write.
  private func run(_ sql: String, _ key: RowKey, _ state: [UInt8], isHidden: Bool) throws -> Bool {
    try connection.withStatement(sql) { statement in
      try statement.bind(blob: state, at: 1)
      try statement.bind(Int64(isHidden ? 1 : 0), at: 2)
      try statement.bind(blob: key.bytes, at: 3)
      try statement.run()
      return connection.changes > 0
    }
  }

  func remove(_ key: RowKey) throws {
    try connection.withStatement("DELETE FROM godwit_row WHERE key = ?") { statement in
      try statement.bind(blob: key.bytes, at: 1)
      try statement.run()
    }
  }
}
