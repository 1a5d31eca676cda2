import GodwitBase
import GodwitStorage

/// A value that a migration could not keep: an integer beyond 2⁵³ that became a REAL, or one that the rule has nothing
/// for, in whose place the column's default stands, or NULL.
public struct MigrationLoss: Sendable, Hashable {
  /// The migration; of a change that came from before it, the schema's version when that change arrived.
  public let version: Int
  /// The table, as it was called before the migration, or when the change arrived.
  public let table: String
  /// The row's primary key.
  public let key: [Value]
  /// The column, as it was called then.
  public let column: String
  /// What it held.
  public let value: Value
}

/// Keeps the values that a migration could not keep exactly (`godwit_loss`).
package struct LossLog {
  static let creation = """
    CREATE TABLE godwit_loss (id INTEGER PRIMARY KEY, version INTEGER NOT NULL, table_name TEXT NOT NULL,
      key BLOB NOT NULL, column_name TEXT NOT NULL, value BLOB NOT NULL);
    """

  private let connection: Connection

  package init(_ connection: Connection) { self.connection = connection }

  func add(_ value: Value, version: UInt64, table: String, key: [UInt8], column: String) throws {
    var writer = ByteWriter()
    writer.value(value)
    try connection.run(
      "INSERT INTO godwit_loss (version, table_name, key, column_name, value) VALUES (?, ?, ?, ?, ?)",
      [.integer(Int64(version)), .text(table), .blob(key), .text(column), .blob(writer.bytes)])
  }

  /// The number of the last one; nothing is ever taken out.
  var last: Int64 {
    get throws {
      guard case .integer(let id)? = try connection.scalar("SELECT max(id) FROM godwit_loss") else { return 0 }
      return id
    }
  }

  /// All that came behind this one, in the order they were found.
  package func list(after id: Int64 = 0) throws -> [MigrationLoss] {
    let sql = "SELECT version, table_name, key, column_name, value FROM godwit_loss WHERE id > ? ORDER BY id"
    return try connection.withStatement(sql) { statement in
      try statement.bind([.integer(id)])
      var losses: [MigrationLoss] = []
      while try statement.step() {
        var reader = ByteReader(statement.blob(at: 2))
        var key: [Value] = []
        while !reader.isAtEnd { key.append(try reader.value()) }
        var value = ByteReader(statement.blob(at: 4))
        losses.append(
          MigrationLoss(
            version: Int(statement.integer(at: 0)), table: try statement.text(at: 1), key: key,
            column: try statement.text(at: 3), value: try value.value()))
      }
      return losses
    }
  }
}
