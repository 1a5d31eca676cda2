import GodwitBase
import GodwitCore
import GodwitStorage

/// One entry to be kept.
struct ConflictEntry {
  let kind: Conflict.Kind
  let row: RowKey
  /// Empty for the whole row.
  let columns: [String]
  let values: [Value]
  let winningValues: [Value]
  /// Nil when it is older than all that is remembered.
  let loser: CellStamp?
  let winner: CellStamp?
}

/// Keeps the writes that lost to writes they had not seen (`godwit_conflict`; Specs/merge.md, "Conflicts").
package struct ConflictLog {
  static let creation = """
    CREATE TABLE godwit_conflict (id INTEGER PRIMARY KEY AUTOINCREMENT, kind INTEGER NOT NULL,
      table_id INTEGER NOT NULL, key BLOB NOT NULL, column_name TEXT, value BLOB NOT NULL, winning_value BLOB NOT NULL,
      loser_hlc INTEGER NOT NULL, loser_origin INTEGER NOT NULL, loser_sequence INTEGER NOT NULL,
      winner_hlc INTEGER NOT NULL, winner_origin INTEGER NOT NULL, winner_sequence INTEGER NOT NULL,
      resolved INTEGER NOT NULL DEFAULT 0,
      UNIQUE (table_id, key, kind, column_name, loser_origin, loser_sequence, winner_origin, winner_sequence, value));
    """

  /// The numbers of the contents that entries name.
  static let usedContents = """
    SELECT value FROM godwit_conflict WHERE typeof(value) = 'integer'
    UNION SELECT winning_value FROM godwit_conflict WHERE typeof(winning_value) = 'integer'
    """

  /// How many entries an import leaves, unless it found more itself. Far more than people look through, and some
  /// megabytes at most.
  static let entryLimit = 10_000

  let connection: Connection
  let origins: OriginTable
  let values: ConflictValues

  package init(_ connection: Connection, origins: OriginTable) {
    self.connection = connection
    self.origins = origins
    values = ConflictValues(connection)
  }

  /// Keeps an entry unless it is there; returns whether it is new. Two writes are listed once for each value that was
  /// lost.
  func add(_ entry: ConflictEntry) throws -> Bool {
    try connection.run(
      """
      INSERT OR IGNORE INTO godwit_conflict (kind, table_id, key, column_name, value, winning_value, loser_hlc,
        loser_origin, loser_sequence, winner_hlc, winner_origin, winner_sequence)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """,
      [
        .integer(Int64(entry.kind.rawValue)), .integer(Int64(entry.row.table)), .blob(Array(entry.row.key)),
        .text(ConflictColumns(entry.columns).text), values.column(of: entry.values),
        values.column(of: entry.winningValues),
      ] + stamp(entry.loser) + stamp(entry.winner))
    return connection.changes == 1
  }

  /// Zeros for a stamp that is not remembered: NULLs would be different from each other in the index.
  private func stamp(_ stamp: CellStamp?) throws -> [Value] {
    guard let stamp else { return [.integer(0), .integer(0), .integer(0)] }
    let number = try origins.number(of: stamp.dot.origin)
    let hlc = try stamp.hlc.rawValue > 0 ? .integer(Int64(stamp.hlc.rawValue)) : time(of: stamp.dot, number)
    return [hlc, .integer(Int64(number)), .integer(Int64(stamp.dot.sequence.rawValue))]
  }

  private func time(of dot: Dot, _ number: Int) throws -> Value {
    let hlc = try ChangeLog.time(of: LogKey(origin: number, dot.sequence), on: connection)
    return .integer(hlc.map { Int64($0.rawValue) } ?? 0)
  }

  /// The latest entry; before all entries without any.
  var last: Conflict.ID {
    get throws {
      let last = try connection.scalar("SELECT max(id) FROM godwit_conflict")
      return if case .integer(let number)? = last { Conflict.ID(number) } else { Conflict.ID(0) }
    }
  }

  /// How many entries have come since that one.
  func count(after id: Conflict.ID) throws -> Int {
    let count = try connection.scalar("SELECT count(*) FROM godwit_conflict WHERE id > ?", [.integer(id.number)])
    guard case .integer(let count)? = count else { return 0 }
    return Int(count)
  }

  package func markResolved(_ id: Conflict.ID) throws {
    try connection.run("UPDATE godwit_conflict SET resolved = 1 WHERE id = ?", [.integer(id.number)])
  }

  // MARK: Bounds

  /// Drops all entries but so many, resolved ones first and then the oldest; returns how many those were. They stay
  /// counted.
  package func prune(keeping count: Int) throws -> Int {
    try prune(
      "id IN (SELECT id FROM godwit_conflict ORDER BY resolved, id DESC LIMIT -1 OFFSET ?)", .integer(Int64(count)))
  }

  /// Drops the entries whose later write is older; returns how many those were.
  package func prune(before hlc: HLC) throws -> Int {
    // Beyond the year 6429 a timestamp that a person gives exceeds the column.
    try prune("max(loser_hlc, winner_hlc) < ?", .integer(Int64(clamping: hlc.rawValue)))
  }

  private func prune(_ condition: String, _ value: Value) throws -> Int {
    try connection.run("DELETE FROM godwit_conflict WHERE \(condition)", [value])
    let count = connection.changes
    guard count > 0 else { return 0 }
    try values.sweep()
    let before = try Self.prunedCount(on: connection)
    try Meta.set(.conflictsPruned, .integer(Int64(before + count)), on: connection)
    return count
  }

  /// How many entries have been dropped since the replica was made.
  package static func prunedCount(on connection: Connection) throws -> Int {
    guard case .integer(let count)? = try Meta.all(on: connection)[.conflictsPruned] else { return 0 }
    return Int(count)
  }

  /// How many entries are not resolved.
  package static func openCount(on connection: Connection) throws -> Int {
    let count = try connection.scalar("SELECT count(*) FROM godwit_conflict WHERE resolved = 0")
    guard case .integer(let count)? = count else { return 0 }
    return Int(count)
  }
}

extension [Value] {
  /// One after another, as keys and cells are stored.
  var encoded: [UInt8] {
    var writer = ByteWriter(capacity: 32)
    for value in self { writer.value(value) }
    return writer.bytes
  }

  /// Reads what ``encoded`` wrote.
  init(encoded bytes: some Sequence<UInt8>) throws {
    var reader = ByteReader(Array<UInt8>(bytes))
    self.init()
    while !reader.isAtEnd { append(try reader.value()) }
  }
}
