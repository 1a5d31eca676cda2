import GodwitBase
import GodwitCore

/// What the writes of one batch make of one row.
struct RowChange {
  let key: RowKey
  /// The row as it was, if it was alive.
  let before: LivingRow?
  let lost: [LostWrite]
  private let after: RowState
  private let written: [Int: Value]
  private let values: [Value]
  /// The values before, also of a row that was not shown.
  private let stored: [Value]
  private let places: RowPlaces
  private let table: MergeTable

  init(_ writes: [RowWrite], to key: RowKey, _ places: RowPlaces) throws {
    self.key = key
    self.places = places
    let table = try places.tables[key.table]
    self.table = table
    let keyCount = table.definition.keyCount
    before = try places.load(key)
    // Who changes a row that nobody has inserted makes none; the change waits there for an insert.
    let state = try before?.state ?? places.states.load(key) ?? RowState()
    var values = before?.values ?? table.completed(state.hiddenCells ?? [])
    let first = values
    stored = first
    var merge = RowMerge(state, table.rules) { first[$0 - keyCount] }
    for write in writes { try merge.apply(write) }
    for (column, value) in merge.written { values[column - keyCount] = value }
    after = merge.state
    written = merge.written
    lost = merge.lost
    self.values = values
  }

  /// Whether a delete that lost was nobody's will: that of a document which had expired, or whose expiry has been set
  /// anew by the write it lost to (Specs/documents.md, "Expiry").
  func isSweep(_ lost: LostWrite) -> Bool {
    guard lost.part == .delete, table.definition.isCollection else { return false }
    let column = CollectionTable.ownColumnCount - 1
    if case .integer(let expiry)? = stored.first, expiry <= lost.loser.hlc.milliseconds { return true }
    return values.first != .null && after.stamp(of: column) == lost.winner
  }

  /// Brings the row where it belongs; one that is to be put into its table is returned.
  func apply(_ references: ReferenceJudge) throws -> LivingRow? {
    let isAlive = after.isAlive(table.definition.deletes)
    let wasShown = before?.isShown == true
    // Rows that the table does not show are on circles, too.
    if table.hasAcyclicReferences { references.check(key, in: table) }
    guard isAlive else {
      try die(wasShown)
      return nil
    }
    let row = LivingRow(key: key, state: after, values: values, isShown: wasShown)
    if wasShown, table.uniqueColumns.isDisjoint(with: written.keys) {
      do {
        try update(row)
      } catch let error as GodwitError where error.code == .constraint {
        // Another row of the batch may give up what this one takes.
        return try arriving(row)
      }
      if !table.referenceColumns.isDisjoint(with: written.keys) { references.check(key, in: table) }
      return nil
    }
    return try arriving(row)
  }

  /// The row, taken out of its table if that shows it.
  private func arriving(_ row: LivingRow) throws -> LivingRow {
    if row.isShown { try places.takeOut(key) }
    if before != nil { try places.release(key) }
    var arriving = row
    arriving.isShown = false
    return arriving
  }

  private func die(_ wasShown: Bool) throws {
    if wasShown { try places.takeOut(key) }
    if before != nil { try places.release(key) }
    var state = after
    state.hiddenCells = values
    state.hiddenReferences = [:]
    try places.states.save(state, for: key)
  }

  /// Cells of hidden references keep showing NULL until their references are judged.
  private func update(_ row: LivingRow) throws {
    let keyCount = table.definition.keyCount
    let changed = written.keys.sorted().filter { before?.values[$0 - keyCount] != values[$0 - keyCount] }
    let shown = changed.filter { after.hiddenReferences[$0] == nil }
    if !shown.isEmpty {
      // What the table shows of a hidden reference is not what the row has.
      let held = before?.state.hiddenReferences.isEmpty == true ? before?.values : nil
      try table.rows.update(key.key, shown.map { ($0, values[$0 - keyCount]) }, holding: held)
    }
    var state = after
    for column in changed where after.hiddenReferences[column] != nil {
      state.hiddenReferences[column] = values[column - keyCount]
    }
    try places.states.save(state, for: key)
  }
}
