import GodwitBase
import GodwitCore
import GodwitStorage

/// The writer's clock, with all that it must not forget (Specs/clock.md): a timestamp that is handed out is greater
/// than those of all writes to the same rows that are held here, however wrong their authors' clocks were.
///
/// What it holds in memory follows the database; ``load(_:own:latest:)`` reads it anew after a rollback.
final class ReplicaClock {
  private let connection: Connection
  private let wallClock: WallClock
  private let rows: AheadRows
  private var clock = HybridClock()
  /// The earliest timestamp remembered; nil when nothing is, and then a commit does not look for rows.
  private var earliest: HLC?
  /// The latest timestamp of what has been forgotten, which no row holds any more: the clock never goes back behind it.
  private var forgotten = HLC(rawValue: 0)
  /// The latest timestamp of all that has been forgotten. The remembered rows hold what lies beyond the clock.
  private var forgottenBeyond = HLC(rawValue: 0)

  init(_ connection: Connection, wallClock: WallClock) {
    self.connection = connection
    self.wallClock = wallClock
    rows = AheadRows(connection: connection)
  }

  func load(_ meta: [Meta: Value], own: OriginTable.Head, latest: HLC) throws {
    clock = HybridClock(last: try Self.last(meta, own: own, latest: latest))
    forgotten = try Self.timestamp(.forgottenClock, meta)
    forgottenBeyond = try Self.timestamp(.forgottenBeyond, meta)
    let ahead = try Self.timestamp(.ahead, meta)
    earliest = ahead.rawValue == 0 ? nil : ahead
  }

  /// The clock as a database holds it. Local commits do not write it down. Those since the last time it was have rising
  /// timestamps, so that the latest own one says the rest.
  static func last(_ meta: [Meta: Value], own: OriginTable.Head, latest: HLC) throws -> HLC {
    let written = try timestamp(.clock, meta)
    return own.sequence.rawValue > (try timestamp(.clocked, meta).rawValue) ? max(written, latest) : written
  }

  /// The clock that a database holds, for who has no writer.
  static func stored(on connection: Connection) throws -> HLC {
    let origins = try OriginTable(connection)
    return try last(Meta.all(on: connection), own: origins.head(of: origins.own), latest: origins.ownLatest)
  }

  private static func timestamp(_ name: Meta, _ meta: [Meta: Value]) throws -> HLC {
    HLC(rawValue: UInt64(bitPattern: meta[name] == nil ? 0 : try meta.integer(name)))
  }

  // MARK: Local transactions

  /// The timestamp for a local transaction, which is its origin's `sequence`.
  ///
  /// - Throws: `limitExceeded` when the wall clock, or a row written by another replica, stands at the end of time.
  func stamp(_ changes: [UInt8], _ sequence: SequenceNumber, _ log: ChangeLog, _ catalog: Catalog) throws -> HLC {
    try correct(log, catalog)
    let wall = wallClock.milliseconds()
    guard let earliest else { return try Self.checked(clock.tick(wallMilliseconds: wall)) }
    let set = try ChangeSet(changes[...])
    let keys = try Self.rows(of: set, in: catalog)
    let hlc = try Self.checked(clock.tick(wallMilliseconds: wall, above: rows.greatest(of: keys)))
    if hlc > clock.last {
      try remember(keys, hlc)
      try save(through: sequence)
    } else if earliest <= hlc {
      try forget()
    }
    return hlc
  }

  /// Goes back to the wall clock after that was set back, and remembers the rows that the log's transactions with later
  /// timestamps write to. Takes time in proportion to the log, once per wrong clock.
  func correct(_ log: ChangeLog, _ catalog: Catalog) throws {
    let wall = max(wallClock.milliseconds(), forgotten.milliseconds + 1)
    guard clock.isAstray(wallMilliseconds: wall) else { return }
    let adapter = SchemaAdapter(connection, catalog)
    for dot in try log.transactions(after: HLC(milliseconds: wall)) {
      let before = SequenceNumber(rawValue: dot.sequence.rawValue - 1)
      try log.forEach(of: dot.origin, after: before, through: dot.sequence) { record, _ in
        try remember(adapter.rows(of: record), record.hlc)
      }
    }
    clock.goBack(wallMilliseconds: wall)
    try save(through: log.origins.head(of: log.origins.own).sequence)
  }

  /// Whether a row can be written to: not one that somebody has written to at the end of time.
  func canPass(_ row: RowKey) throws -> Bool {
    guard earliest != nil, let last = try rows.greatest(of: [row]) else { return true }
    return last.rawValue + 1 < HLC.limit.rawValue
  }

  // MARK: Transactions of others

  /// Follows the timestamp of a transaction that is applied, or remembers its rows. The caller saves in the end.
  func take(_ record: TransactionRecord, _ adapter: SchemaAdapter) throws {
    guard !clock.follow(record.hlc, wallMilliseconds: wallClock.milliseconds()) else { return }
    try remember(adapter.rows(of: record), record.hlc)
  }

  /// Whether a transaction's timestamp is greater than those of all writes to its rows that are held here. One that is
  /// not beyond the clock may be, but is no honest author's that had seen all that is here.
  func isBehind(_ record: TransactionRecord, _ adapter: SchemaAdapter) throws -> Bool {
    guard record.hlc > clock.last else { return false }
    guard earliest != nil else { return true }
    return try rows.greatest(of: adapter.rows(of: record)).map { $0 < record.hlc } ?? true
  }

  /// The same for a row of a state file, whose greatest timestamp this is.
  func take(_ hlc: HLC, of key: RowKey) throws {
    guard !clock.follow(hlc, wallMilliseconds: wallClock.milliseconds()) else { return }
    try remember([key], hlc)
  }

  /// Follows the clock of a state file's sender, or remembers it for every row: which rows the sender has forgotten,
  /// deleted ones among them, the state file does not say. At most up to ``HLC/everyRowLimit``, or a file could keep
  /// this replica from writing anything ever after.
  func take(_ hlc: HLC) throws {
    let hlc = min(hlc, .everyRowLimit)
    guard !clock.follow(hlc, wallMilliseconds: wallClock.milliseconds()) else { return }
    try rows.rememberEveryRow(hlc)
    try noteRemembered(hlc)
  }

  /// The sender of the next state says itself what the sender of an earlier one had forgotten.
  func forgetEveryRow() throws {
    try rows.forgetEveryRow()
    earliest = try rows.earliest()
    try saveEarliest()
  }

  /// The greatest timestamp handed out or followed.
  var latest: HLC { clock.last }

  /// Writes the clock down: it covers all up to an own sequence.
  func save(through sequence: SequenceNumber) throws {
    try Meta.set(.clock, .integer(Int64(clock.last.rawValue)), on: connection)
    try Meta.set(.clocked, .integer(Int64(sequence.rawValue)), on: connection)
    if let earliest, earliest <= clock.last { try forget() }
  }

  /// The log no longer says who wrote with this timestamp. Rows that were written beyond the clock are remembered.
  func noteForgotten(_ hlc: HLC) throws {
    if hlc > max(clock.last, forgottenBeyond) {
      forgottenBeyond = hlc
      try Meta.set(.forgottenBeyond, .integer(Int64(hlc.rawValue)), on: connection)
    }
    try raiseForgotten(to: min(hlc, clock.last))
  }

  private func raiseForgotten(to hlc: HLC) throws {
    guard hlc > forgotten else { return }
    forgotten = hlc
    try Meta.set(.forgottenClock, .integer(Int64(hlc.rawValue)), on: connection)
  }

  // MARK: Rows

  private func remember(_ keys: [RowKey], _ hlc: HLC) throws {
    guard !keys.isEmpty else { return }
    try rows.remember(keys, hlc)
    try noteRemembered(hlc)
  }

  private func noteRemembered(_ hlc: HLC) throws {
    if let earliest, earliest <= hlc { return }
    earliest = hlc
    try saveEarliest()
  }

  /// Drops the rows that the clock has passed. Where the log does not name them any more the clock must not go back
  /// behind them: nothing else does.
  private func forget() throws {
    try raiseForgotten(to: min(forgottenBeyond, try rows.latest(through: clock.last)))
    try rows.forget(through: clock.last)
    earliest = try rows.earliest()
    try saveEarliest()
  }

  private func saveEarliest() throws {
    try Meta.set(.ahead, .integer(Int64(earliest?.rawValue ?? 0)), on: connection)
  }

  /// The rows that a change set of this database's writes.
  private static func rows(of changes: ChangeSet, in catalog: Catalog) throws -> [RowKey] {
    let tables = changes.tables.map { catalog[$0.name] }
    var rows: [RowKey] = []
    try changes.forEach { operation in
      if let table = tables[operation.table] { rows.append(try table.row(operation.key)) }
    }
    return rows
  }

  /// Beyond the limit others would refuse the transaction, and every later one with it.
  private static func checked(_ hlc: HLC) throws -> HLC {
    guard hlc < .limit else {
      throw GodwitError(
        .limitExceeded, "a timestamp would lie beyond the year 4199",
        hint: "set this machine's clock; a row that another replica wrote at the end of time cannot be changed")
    }
    return hlc
  }
}
