import GodwitBase
import GodwitReplication
import GodwitStorage

/// The stored ``RowState`` of each row that has one (`godwit_row`).
struct RowStates {
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

  func save(_ state: RowState, for key: RowKey) throws {
    var writer = ByteWriter(capacity: 32)
    try state.write(to: &writer, origins: origins)
    try connection.withStatement("INSERT OR REPLACE INTO godwit_row (key, state, hidden) VALUES (?, ?, ?)") { statement in
      try statement.bind(blob: key.bytes, at: 1)
      try statement.bind(blob: writer.bytes, at: 2)
      try statement.bind(Int64(state.image == nil ? 0 : 1), at: 3)
      try statement.run()
    }
  }

  func remove(_ key: RowKey) throws {
    try connection.withStatement("DELETE FROM godwit_row WHERE key = ?") { statement in
      try statement.bind(blob: key.bytes, at: 1)
      try statement.run()
    }
  }
}
