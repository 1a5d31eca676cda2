import GodwitBase
import GodwitCore

/// Makes a replica's own unsent work anew on top of another state, as one ordinary transaction (Specs/state-file.md,
/// "The way back"). Row by row the rules merge it into that state as if a file had brought it there; how a row changes
/// by that is written. What loses is listed in the conflict log, and so is what cannot be done any more.
/// Transactions come in the order of their causes.
final class Replay {
  private let writer: ReplicaWriter
  private let tables: MergeTables
  private let places: RowPlaces
  private var conflicts: ConflictLog
  /// What was written before a migration is made anew in the terms of the tables there are now. Of a column that its
  /// author had not got it says nothing.
  private let adapter: SchemaAdapter
  /// All that the new state holds, and how far nobody knows any more who wrote what.
  private let held: VersionVector
  private let forgotten: VersionVector
  private let own: ReplicaID
  /// By row, the columns whose references have no effect from the start, for what else was written did not let them
  /// be taken back in the end.
  private var refused: [RowKey: Set<Int>] = [:]

  init(_ writer: ReplicaWriter) throws {
    self.writer = writer
    adapter = SchemaAdapter(writer.connection, writer.catalog, completingInserts: false)
    tables = MergeTables(writer.connection, catalog: writer.catalog, functions: writer.mergeFunctions)
    places = try RowPlaces(writer.connection, tables: tables, origins: writer.log.origins)
    conflicts = ConflictLog(writer.connection, origins: writer.log.origins)
    held = writer.log.origins.vector
    forgotten = writer.log.origins.floor
    own = writer.log.origins.own.replica
  }

  /// Runs inside the import's transaction, in which nothing else is captured.
  func run(_ transactions: [LogOrder.Entry]) throws {
    let merger = try writer.merger()
    let lastConflict = try conflicts.last
    // The states know who wrote what in the new state, as far as anybody does.
    try merger.foldAhead()
    var written: [RowKey: OwnRow] = [:]
    try writer.captured { written = try makeAnew(transactions) }
    // What the new state makes of references and of rows in limbo.
    try merger.settleLocalWrites(to: Set(written.keys), besides: conflicts.count(after: lastConflict))
  }

  /// Begins again without a reference that closes a circle and cannot be taken back: with what else was written to its
  /// row, what it was may be a unique value that another row has. Without it that is refused like any other write.
  private func makeAnew(_ transactions: [LogOrder.Entry]) throws -> [RowKey: OwnRow] {
    while true {
      do {
        return try writer.connection.savepoint {
          // It remembers where it keeps what, and what is taken back is nowhere.
          conflicts = ConflictLog(writer.connection, origins: writer.log.origins)
          let written = try write(transactions)
          try openCircles(written)
          return written
        }
      } catch let reference as StuckReference {
        // A trigger of the program's own may write it again and again.
        guard refused[reference.row, default: []].insert(reference.column).inserted else { throw reference.refusal }
      }
    }
  }

  /// A reference that closes a circle, and why it cannot be what it is in the new state.
  private struct StuckReference: Error {
    let row: RowKey
    let column: Int
    let refusal: GodwitError
  }

  private func write(_ transactions: [LogOrder.Entry]) throws -> [RowKey: OwnRow] {
    var written: [RowKey: OwnRow] = [:]
    for transaction in transactions {
      if let awaited = try adapter.terms(of: transaction.record).awaited {
        throw GodwitError(
          .needsMigration, "own unsent changes use \(awaited), which the tables lack",
          hint: "nothing was changed; let the state file's sender migrate first, and make another")
      }
      var waiting: [(key: RowKey, write: RowWrite)] = []
      try adapter.forEachWrite(of: transaction.record, context: transaction.context) { waiting.append(($0, $1)) }
      try write(&waiting, to: &written)
      for (key, write) in waiting {
        if let row = written[key] { try keepRefused(write, of: row, .constraint) }
      }
    }
    return written
  }

  /// Writes one transaction. What a constraint refuses is tried again as long as something else could be written: a
  /// unique value may pass from row to row. What stays refused is left in `writes`.
  private func write(_ writes: inout [(key: RowKey, write: RowWrite)], to rows: inout [RowKey: OwnRow]) throws {
    var isAdvancing = true
    while isAdvancing, !writes.isEmpty {
      var refused: [(key: RowKey, write: RowWrite)] = []
      for (key, write) in writes {
        var row = try rows.removeValue(forKey: key) ?? OwnRow(key, in: places)
        if try !apply(write, to: &row) { refused.append((key, write)) }
        rows[key] = row
      }
      isAdvancing = refused.count < writes.count
      writes = refused
    }
  }

  /// A reference that the new state does not allow, since it would close a circle, has no effect: the cell is what it
  /// is there.
  private func openCircles(_ written: [RowKey: OwnRow]) throws {
    guard let circles = writer.circles else { return }
    var isChanging = true
    while isChanging {
      isChanging = false
      for (key, row) in written.sorted(by: { $0.key < $1.key }) {
        let table = try tables[key.table]
        let keyCount = table.definition.keyCount
        for column in try circles.circles(through: key, table.definition) {
          guard let value = try table.rows.values(key.key)?[column - keyCount], case let old = row.old(column),
            old != value, let stamp = row.latest
          else { continue }
          try add([Cell(column: column, value: value)], of: row, stamp, .constraint)
          do {
            try table.rows.update(key.key, [(column, old)])
          } catch let error as GodwitError where error.code == .constraint {
            throw StuckReference(row: key, column: column, refusal: error)
          }
          isChanging = true
        }
      }
    }
  }

  /// Writes what a write makes of a row. False where a constraint refuses that, and the row is as it was.
  private func apply(_ write: RowWrite, to row: inout OwnRow) throws -> Bool {
    let current = try row.table.rows.values(row.key.key)
    // What waits in limbo can only be taken the place of.
    let canWrite = try writer.clock.canPass(row.key) && (current != nil || !row.isWaiting || write.kind == .insert)
    guard canWrite else {
      try keepRefused(write, of: row, current == nil ? .edit : .constraint)
      return true
    }
    var (after, beyond) = try outcome(of: write, on: row)
    do {
      try bring(after, by: write, from: current)
    } catch let error as GodwitError where error.code == .constraint {
      return false
    }
    try keep(beyond, of: row, write.stamp, .constraint)
    try list(&after, by: write, on: current)
    row = after
    return true
  }

  /// Brings the row in its table to what it is now.
  private func bring(_ row: OwnRow, by write: RowWrite, from current: [Value]?) throws {
    let (table, keyCount, values) = (row.table, row.table.definition.keyCount, row.values)
    switch (row.isAlive, current) {
    case (true, nil) where write.kind != .delete:
      var values = values
      for column in refused[row.key] ?? [] { values[column - keyCount] = row.old(column) }
      try table.rows.insert(row.key.key, values)
    case (true, let current?):
      let differing = write.cells.map(\.column).filter { current[$0 - keyCount] != values[$0 - keyCount] }
      if !differing.isEmpty { try table.rows.update(row.key.key, differing.map { ($0, values[$0 - keyCount]) }) }
    case (false, _?): try table.rows.delete(row.key.key)
    default: break
    }
  }

  /// The row with what one difference leads to from it in the new state. Counters and hidden references for which there
  /// is none, and references that have no effect, are left out.
  private func outcome(of write: RowWrite, on row: OwnRow) throws -> (OwnRow, beyond: [Cell]) {
    let keyCount = row.table.definition.keyCount
    var after = row
    try after.apply(write)
    let values = after.values
    let beyond = write.cells.map { Cell(column: $0.column, value: values[$0.column - keyCount]) }.filter { cell in
      let old = row.old(cell.column)
      if isKeptOut(cell.column, of: after) { return true }
      if refused[row.key]?.contains(cell.column) == true { return cell.value != old }
      guard row.table.rules.policy(of: cell.column) == .counter, case .integer(let new) = cell.value,
        case .integer(let old) = old
      else { return false }
      return new.subtractingReportingOverflow(old).overflow
    }
    guard !beyond.isEmpty else { return (after, []) }
    let left = Set(beyond.map(\.column)).filter { !isKeptOut($0, of: after) }
    let reached = write.cells.filter { !left.contains($0.column) }
    after = row
    try after.apply(RowWrite(kind: write.kind, stamp: write.stamp, context: write.context, cells: reached))
    return (after, beyond)
  }

  /// Whether own work makes NULL of a reference that the new state hides. The table shows NULL for that, and no
  /// difference leads from NULL to NULL.
  private func isKeptOut(_ column: Int, of row: OwnRow) -> Bool {
    row.merged.known.hiddenReferences[column] != nil
      && row.merged.values[column - row.table.definition.keyCount] == .null
  }

  // MARK: Conflicts

  /// Lists what the write and the new state lost to each other. What own writes lost to each other has been listed when
  /// they met.
  private func list(_ row: inout OwnRow, by write: RowWrite, on before: [Value]?) throws {
    let lost = row.takeLost()
    let lister = ConflictLister(conflicts, tables)
    try lister.list(lost.filter { held.covers($0.loser.dot) || held.covers($0.winner.dot) }, of: row.key)
    switch write.kind {
    case .update where !row.isAlive:
      let listed = lost.filter { $0.loser.dot == write.stamp.dot }.map(\.part)
      let cells = write.cells.filter { !listed.contains(.cell($0.column)) }
      try keep(made(of: cells, on: row.table.defaults, row.table), of: row, write.stamp, .edit)
    // It waits as it did: what own work put in its place is no row of the new state.
    case .delete where row.isWaiting && !row.isAlive: try add([], of: row, write.stamp, .delete)
    // Another may bring what it has deleted.
    case .delete where before == nil: if hasSeenMore(write) { try add([], of: row, write.stamp, .delete) }
    default: break
    }
    if !write.context.covers(forgotten) { try listReplaced(&row, by: write) }
  }

  /// Whether its author had seen what others wrote and the new state does not have.
  private func hasSeenMore(_ write: RowWrite) -> Bool {
    write.context.entries.contains { $0.origin.replica != own && held[$0.origin] < $0.sequence }
  }

  /// Lists what the write takes the place of, and may not have seen.
  private func listReplaced(_ row: inout OwnRow, by write: RowWrite) throws {
    let keyCount = row.table.definition.keyCount
    let values = row.isAlive ? row.values : nil
    for cell in row.takeReplaced(by: write) {
      try add(
        [cell], of: row, row.merged.known.stamp(of: cell.column), .edit,
        lostTo: write.stamp, with: [values?[cell.column - keyCount] ?? .null])
    }
    if write.kind == .delete, !row.isAlive, row.isBare {
      try add([], of: row, row.merged.known.base, .edit, lostTo: write.stamp)
    }
  }

  /// What a constraint refuses, and what would be written to a row that somebody has written to at the end of time, or
  /// that waits.
  private func keepRefused(_ write: RowWrite, of row: OwnRow, _ kind: Conflict.Kind) throws {
    switch write.kind {
    case .update: try keep(made(of: write.cells, on: row.values, row.table), of: row, write.stamp, kind)
    // A row that is not there can come only whole.
    case .insert: try add(write.cells, of: row, write.stamp, .constraint)
    // In limbo it may be shown one day, though who deleted it has seen it.
    case .delete: if row.isAlive { try add([], of: row, write.stamp, .delete) }
    }
  }

  /// What is added to a count or set can be written again only as what it would have made of it.
  private func made(of cells: [Cell], on values: [Value], _ table: MergeTable) throws -> [Cell] {
    try cells.map { cell in
      let place = cell.column - table.definition.keyCount
      let before = values[place] == .null ? table.defaults[place] : values[place]
      return Cell(column: cell.column, value: try table.rules.value(of: cell, appliedTo: before))
    }
  }

  /// Each by itself, so that it can be restored by itself.
  private func keep(_ cells: [Cell], of row: OwnRow, _ stamp: CellStamp, _ kind: Conflict.Kind) throws {
    for cell in cells { try add([cell], of: row, stamp, kind) }
  }

  /// With the values of the winner where there is one, beside those that lost.
  private func add(
    _ cells: [Cell], of row: OwnRow, _ loser: CellStamp?, _ kind: Conflict.Kind, lostTo winner: CellStamp? = nil,
    with winningValues: [Value]? = nil
  ) throws {
    _ = try conflicts.add(
      ConflictEntry(
        kind: kind, row: row.key, columns: cells.map { row.table.definition.columns[$0.column].name },
        values: cells.map(\.value), winningValues: winningValues ?? cells.map { _ in .null }, loser: loser,
        winner: winner))
  }
}
