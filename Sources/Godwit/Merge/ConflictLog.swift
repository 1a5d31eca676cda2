import GodwitBase
import GodwitReplication
import GodwitStorage

/// One entry to be kept.
struct ConflictEntry {
  let kind: Conflict.Kind
  let row: RowKey
  /// Nil for the whole row.
  let column: String?
  let value: Value
  let winningValue: Value
  /// Nil when it is older than all that is remembered.
  let loser: CellStamp?
  let winner: CellStamp?
}

/// Keeps the writes that lost to writes they had not seen (`godwit_conflict`).
struct ConflictLog {
  private let connection: Connection
  private let origins: OriginTable

  init(_ connection: Connection, origins: OriginTable) {
    self.connection = connection
    self.origins = origins
  }

  /// Keeps an entry unless it is there; returns whether it is new. Two writes are listed once.
  func add(_ entry: ConflictEntry) throws -> Bool {
    try connection.run(
      """
      INSERT OR IGNORE INTO godwit_conflict (kind, table_id, key, column_name, value, winning_value, loser_hlc,
        loser_origin, loser_sequence, winner_hlc, winner_origin, winner_sequence)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """,
      [
        .integer(Int64(entry.kind.rawValue)), .integer(Int64(entry.row.table)), .blob(Array(entry.row.key)),
        .text(entry.column ?? ""), .blob(Self.encoded(entry.value)), .blob(Self.encoded(entry.winningValue)),
      ] + stamp(entry.loser) + stamp(entry.winner))
    return connection.changes == 1
  }

  private static func encoded(_ value: Value) -> [UInt8] {
    var writer = ByteWriter()
    writer.value(value)
    return writer.bytes
  }

  /// Zeros for a stamp that is not remembered: NULLs would be different from each other in the index.
  private func stamp(_ stamp: CellStamp?) throws -> [Value] {
    guard let stamp else { return [.integer(0), .integer(0), .integer(0)] }
    let number = try origins.number(of: stamp.dot.origin)
    let hlc = try stamp.hlc.rawValue > 0 ? .integer(Int64(stamp.hlc.rawValue)) : time(of: stamp.dot, number)
    return [hlc, .integer(Int64(number)), .integer(Int64(stamp.dot.sequence.rawValue))]
  }

  private func time(of dot: Dot, _ number: Int) throws -> Value {
    let key = LogKey(origin: number, dot.sequence).rawValue
    return try connection.scalar("SELECT hlc FROM godwit_log WHERE id = ?", [.integer(key)]) ?? .integer(0)
  }

  /// The conflicts, newest first.
  func list(limit: Int) throws -> [Conflict] {
    let sql = """
      SELECT c.id, t.name, c.key, c.column_name, c.value, c.loser_hlc, l.replica, c.winner_hlc, w.replica, c.kind,
        c.winning_value
      FROM godwit_conflict c JOIN godwit_table t ON t.id = c.table_id
      LEFT JOIN godwit_origin l ON l.id = c.loser_origin LEFT JOIN godwit_origin w ON w.id = c.winner_origin
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
    func value(at index: Int32) throws -> Value {
      var reader = ByteReader(statement.blob(at: index))
      return try reader.value()
    }
    func author(at index: Int32) throws -> Conflict.Author? {
      guard !statement.isNull(at: index + 1) else { return nil }
      var replica = ByteReader(statement.blob(at: index + 1))
      return Conflict.Author(
        replica: ReplicaID(try Identifier128(reading: &replica)),
        milliseconds: HLC(rawValue: UInt64(bitPattern: statement.integer(at: index))).milliseconds)
    }
    let column = try statement.text(at: 3)
    return Conflict(
      id: statement.integer(at: 0), kind: Conflict.Kind(rawValue: Int(statement.integer(at: 9))) ?? .edit,
      table: try statement.text(at: 1), key: keyValues, column: column.isEmpty ? nil : column,
      losingValue: try value(at: 4), winningValue: try value(at: 10), loser: try author(at: 5),
      winner: try author(at: 7))
  }
}
