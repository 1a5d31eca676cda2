import GodwitBase
import GodwitCore

/// What the writes of one batch make of one row.
struct RowChange {
  let key: RowKey
  /// The row as it was, if it was alive.
  var before: LivingRow? { merged.before }
  /// What the writes, and what was here, lost to each other.
  let lost: [LostWrite]
  private let merged: MergedRow
  private let values: [Value]
  private let places: RowPlaces
  private let table: MergeTable

  init(_ writes: [RowWrite], to key: RowKey, _ places: RowPlaces) throws {
    self.key = key
    self.places = places
    table = try places.tables[key.table]
    var merged = try MergedRow(key, in: places)
    for write in writes { try merged.apply(write) }
    lost = merged.takeLost()
    self.merged = merged
    values = merged.values
  }

  /// Brings the row where it belongs; one that is to be put into its table is returned.
  func apply(_ references: ReferenceJudge) throws -> LivingRow? {
    let wasShown = before?.isShown == true
    // Rows that the table does not show are on circles, too.
    if table.hasAcyclicReferences { references.check(key, in: table) }
    guard merged.isAlive else {
      try die(wasShown)
      return nil
    }
    let row = LivingRow(key: key, state: merged.state, values: values, isShown: wasShown)
    if wasShown, table.uniqueColumns.isDisjoint(with: merged.written) {
      do {
        try update(row)
      } catch let error as GodwitError where error.code == .constraint {
        // Another row of the batch may give up what this one takes.
        return try arriving(row)
      }
      if !table.referenceColumns.isDisjoint(with: merged.written) { references.check(key, in: table) }
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
    var state = merged.state
    state.hiddenCells = values
    state.hiddenReferences = [:]
    try places.states.save(state, for: key)
  }

  /// Cells of hidden references keep showing NULL until their references are judged.
  private func update(_ row: LivingRow) throws {
    let keyCount = table.definition.keyCount
    let changed = merged.written.sorted().filter { before?.values[$0 - keyCount] != values[$0 - keyCount] }
    let shown = changed.filter { row.state.hiddenReferences[$0] == nil }
    if !shown.isEmpty {
      // What the table shows of a hidden reference is not what the row has.
      let held = before?.state.hiddenReferences.isEmpty == true ? before?.values : nil
      try table.rows.update(key.key, shown.map { ($0, values[$0 - keyCount]) }, holding: held)
    }
    var state = row.state
    for column in changed where row.state.hiddenReferences[column] != nil {
      state.hiddenReferences[column] = values[column - keyCount]
    }
    try places.states.save(state, for: key)
  }
}
