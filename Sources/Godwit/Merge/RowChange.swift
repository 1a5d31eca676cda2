import GodwitBase
import GodwitReplication

/// What one batch writes to one row.
struct RowWrites {
  /// Each with the number of its transaction in the batch.
  var writes: [(transaction: Int, write: RowWrite)] = []
  /// Whether some come late to what the row is now: of these the state has the stamps, with what stands for their values.
  var isLate = false
  /// What the row is put back to, for these to be merged onto that; nil where they come to what it is now.
  var beginning: RowBeginning?
}

/// What the writes of one batch make of one row.
struct RowChange {
  let key: RowKey
  /// The row as it was, if it was alive.
  let before: LivingRow?
  let lost: [LostWrite]
  /// Whether nothing comes to the row.
  let isIdle: Bool
  private let after: RowState
  private let written: [Int: Value]
  private let values: [Value]
  /// The values before, also of a row that was not shown.
  private let stored: [Value]
  private let places: RowPlaces
  private let table: MergeTable

  init(_ all: RowWrites, to key: RowKey, _ places: RowPlaces, _ carried: CarriedLog) throws {
    self.key = key
    self.places = places
    let table = try places.tables[key.table]
    self.table = table
    let keyCount = table.definition.keyCount
    before = try places.load(key)
    let known = try before?.state ?? places.states.load(key)
    // Whoever changes a row that nobody has inserted makes it, with the columns' defaults: so it is wherever the insert comes
    // first, later or never.
    var state = known ?? RowState()
    var values = before?.values ?? table.completed(state.image ?? [])
    stored = values
    if let beginning = all.beginning {
      let now = state
      state = try beginning.state(now, table.rules) { try carried.isAdded($0, of: key, by: $1) }
      for (place, value) in values.enumerated() {
        let column = place + keyCount
        values[place] = try beginning.value(of: column, state, now: (now, value), table.rules.policy(of: column)) {
          try carried.value(of: $0, of: key, by: $1)
        }
      }
    }
    if all.isLate { Self.fill(&values, with: all.writes.map(\.write), state, table) }
    let first = values
    var merge = RowMerge(state, table.rules) { first[$0 - keyCount] }
    for (_, write) in all.writes { try merge.apply(write) }
    for (column, value) in merge.written { values[column - keyCount] = value }
    after = merge.state
    let changed = all.beginning == nil ? [:] : Self.difference(of: values, from: stored, keyCount: keyCount)
    written = merge.written.merging(changed) { $1 }
    isIdle = all.writes.isEmpty
    lost = merge.lost
    self.values = values
  }

  /// The values of the writes that stand there have come, before any is compared with them.
  private static func fill(_ values: inout [Value], with writes: [RowWrite], _ state: RowState, _ table: MergeTable) {
    for write in writes {
      for cell in write.cells where !table.rules.policy(of: cell.column).isContributed && state.stamp(of: cell.column) == write.stamp {
        values[cell.column - table.definition.keyCount] = cell.value
      }
    }
  }

  private static func difference(of values: [Value], from stored: [Value], keyCount: Int) -> [Int: Value] {
    let changed = zip(values, stored).enumerated().filter { $0.element.0 != $0.element.1 }
    return Dictionary(uniqueKeysWithValues: changed.map { ($0.offset + keyCount, $0.element.0) })
  }

  /// Whether a delete that lost was nobody's will: that of a document which had expired, or whose expiry has been set
  /// anew by the write it lost to (Specs/documents.md, "Expiry").
  func isSweep(_ lost: LostWrite) -> Bool {
    guard lost.part == .delete, table.definition.isCollection else { return false }
    let column = CollectionTable.ownColumnCount - 1
    if case .integer(let expiry)? = stored.first, expiry <= lost.loser.hlc.milliseconds { return true }
    return values.first != .null && after.stamp(of: column) == lost.winner
  }

  /// Whether it is a delete of the row that nobody who inserted it again had seen.
  func isDelete(_ stamp: CellStamp) -> Bool { after.deletes.contains(stamp) }

  /// Brings the row where it belongs; one that is to be put into its table is returned.
  func apply(_ references: ReferenceJudge, _ limbo: LimboJournal) throws -> LivingRow? {
    let isAlive = after.isAlive(table.definition.deletes)
    let wasShown = before?.isShown == true
    guard isAlive else {
      try die(wasShown)
      return nil
    }
    let row = LivingRow(key: key, state: after, values: values, isShown: wasShown)
    if wasShown, table.uniqueColumns.isDisjoint(with: written.keys) {
      do {
        try update(row)
      } catch let error as GodwitError where error.code == .constraint {
        try places.park(row)
        limbo.entered(key, .constraint)
      }
      if !table.referenceColumns.isDisjoint(with: written.keys) { references.check(key, in: table) }
      return nil
    }
    if wasShown { try places.takeOut(key) }
    if before != nil { try places.release(key) }
    var arriving = row
    arriving.isShown = false
    return arriving
  }

  private func die(_ wasShown: Bool) throws {
    if wasShown { try places.takeOut(key) }
    if before != nil { try places.release(key) }
    var state = after
    state.image = values
    state.masks = [:]
    try places.states.save(state, for: key)
    #if DEBUG || GODWIT_PLANT
      if PlantedFault.forgetTombstoneEarly.isPlanted { try places.states.remove(key) }
    #endif
  }

  /// Masked cells keep showing NULL until their references are judged.
  private func update(_ row: LivingRow) throws {
    let keyCount = table.definition.keyCount
    let changed = written.keys.sorted().filter { before?.values[$0 - keyCount] != values[$0 - keyCount] }
    let shown = changed.filter { after.masks[$0] == nil }
    if !shown.isEmpty {
      // What the table shows of a masked cell is not what the row has.
      let held = before?.state.masks.isEmpty == true ? before?.values : nil
      try table.rows.update(key.key, shown.map { ($0, values[$0 - keyCount]) }, holding: held)
    }
    var state = after
    for column in changed where after.masks[column] != nil { state.masks[column] = values[column - keyCount] }
    try places.states.save(state, for: key)
  }
}
