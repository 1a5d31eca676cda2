import GodwitBase
import GodwitReplication
import GodwitStorage

/// Keeps the writes that lost to writes they had not seen (`godwit_conflict`).
struct ConflictLog {
  private let connection: Connection
  private let origins: OriginTable

  init(_ connection: Connection, origins: OriginTable) {
    self.connection = connection
    self.origins = origins
  }

  func add(_ lost: LostWrite, row: RowKey, in table: TableDefinition) throws {
    var value = ByteWriter()
    value.value(lost.value)
    let column = lost.column.map { Value.text(table.columns[$0].name) } ?? .null
    try connection.run(
      """
      INSERT INTO godwit_conflict (table_id, key, column_name, value, loser_hlc, loser_origin, loser_sequence,
        winner_hlc, winner_origin, winner_sequence) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """,
      [.integer(Int64(row.table)), .blob(Array(row.key)), column, .blob(value.bytes)] + stamp(lost.loser)
        + stamp(lost.winner))
  }

  private func stamp(_ stamp: CellStamp) throws -> [Value] {
    [
      .integer(Int64(stamp.hlc.rawValue)), .integer(Int64(try origins.number(of: stamp.dot.origin))),
      .integer(Int64(stamp.dot.sequence.rawValue)),
    ]
  }

  /// The conflicts, newest first.
  func list(limit: Int) throws -> [Conflict] {
    let sql = """
      SELECT c.id, t.name, c.key, c.column_name, c.value, c.loser_hlc, l.replica, c.winner_hlc, w.replica
      FROM godwit_conflict c JOIN godwit_table t ON t.id = c.table_id
      JOIN godwit_origin l ON l.id = c.loser_origin JOIN godwit_origin w ON w.id = c.winner_origin
      ORDER BY c.id DESC LIMIT ?
      """
    return try connection.withStatement(sql) { statement in
      try statement.bind(Int64(limit), at: 1)
      var conflicts: [Conflict] = []
      while try statement.step() { conflicts.append(try Self.conflict(statement)) }
      return conflicts
    }
  }

  static func count(on connection: Connection) throws -> Int {
    guard case .integer(let count)? = try connection.scalar("SELECT count(*) FROM godwit_conflict") else { return 0 }
    return Int(count)
  }

  private static func conflict(_ statement: Statement) throws -> Conflict {
    var key = ByteReader(statement.blob(at: 2))
    var keyValues: [Value] = []
    while !key.isAtEnd { keyValues.append(try key.value()) }
    var value = ByteReader(statement.blob(at: 4))
    func write(at index: Int32) throws -> Conflict.Author {
      var replica = ByteReader(statement.blob(at: index + 1))
      return Conflict.Author(
        replica: ReplicaID(try Identifier128(reading: &replica)),
        milliseconds: HLC(rawValue: UInt64(bitPattern: statement.integer(at: index))).milliseconds)
    }
    return Conflict(
      id: statement.integer(at: 0), table: try statement.text(at: 1), key: keyValues,
      column: statement.isNull(at: 3) ? nil : try statement.text(at: 3), losingValue: try value.value(),
      loser: try write(at: 5), winner: try write(at: 7))
  }
}
