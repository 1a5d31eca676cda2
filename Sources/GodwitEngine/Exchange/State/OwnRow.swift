import GodwitBase
import GodwitCore

/// A row of the new state, and what a replica's own work that is made anew has made of it so far.
struct OwnRow {
  let key: RowKey
  let table: MergeTable
  private(set) var merged: MergedRow
  /// Of the latest write to it.
  private(set) var latest: CellStamp?
  /// The columns of which has been listed what own work takes the place of.
  private var given: Set<Int> = []

  init(_ key: RowKey, in places: RowPlaces) throws {
    self.key = key
    table = try places.tables[key.table]
    merged = try MergedRow(key, in: places)
  }

  /// Whether the new state keeps it out of its table.
  var isWaiting: Bool { merged.before?.isShown == false }

  var isAlive: Bool { merged.isAlive }

  /// The columns beside the key as a table shows them before references are judged: one that the new state hides
  /// stays NULL until it is written.
  var values: [Value] {
    var values = merged.values
    let keyCount = table.definition.keyCount
    for (column, value) in merged.known.hiddenReferences where values[column - keyCount] == value {
      values[column - keyCount] = .null
    }
    return values
  }

  mutating func apply(_ write: RowWrite) throws {
    try merged.apply(write)
    latest = write.stamp
  }

  /// What its table shows of a cell in the new state; NULL where the row is not there.
  func old(_ column: Int) -> Value {
    guard let before = merged.before, before.isShown, before.state.hiddenReferences[column] == nil else { return .null }
    return before.values[column - table.definition.keyCount]
  }

  /// What has been lost since the last call.
  mutating func takeLost() -> [LostWrite] { merged.takeLost() }

  /// Whether the new state shows it, and it has nothing beside its key.
  var isBare: Bool { merged.before.map { $0.isShown && $0.values.allSatisfy { $0 == .null } } ?? false }

  /// What the write has taken the place of, though its author may not have seen it, and the rules did not see that
  /// either: of each column once.
  mutating func takeReplaced(by write: RowWrite) -> [Cell] {
    guard let before = merged.before, before.isShown, write.kind != .delete || !isAlive else { return [] }
    let keyCount = table.definition.keyCount
    let values = isAlive ? merged.values : nil
    let columns = write.kind == .delete ? Array(table.rules.columns) : write.cells.map(\.column)
    return columns.compactMap { column in
      let old = Cell(column: column, value: before.values[column - keyCount])
      let new = values?[column - keyCount]
      guard old.value != .null, new != old.value, mayBeUnseen(old, new, by: write), given.insert(column).inserted
      else { return nil }
      return old
    }
  }

  /// Where the last writer wins and is remembered, the rules see what an insert or update loses; of a row that is far
  /// ahead it may be remembered without the touches by which that would outlive a delete. What adds up or is chosen
  /// may be forgotten in part.
  private func mayBeUnseen(_ old: Cell, _ new: Value?, by write: RowWrite) -> Bool {
    let known = merged.known
    let policy = table.rules.policy(of: old.column)
    switch policy {
    case .lastWriterWins:
      guard let stamp = known.stamp(of: old.column) else { return true }
      return write.kind == .delete && !write.context.covers(stamp.dot) && merged.state.stamp(of: old.column) == stamp
    case .counter, .addWinsSet: return write.kind != .update
    case .maximum, .minimum, .custom:
      let all = [old.value, new ?? .null].map { Contribution(dot: write.stamp.dot, value: $0) }
      if let new, let choice = try? table.rules.choice(all, by: policy), choice == new { return false }
      return !(known.contributions[old.column] ?? []).contains { $0.value == old.value && write.context.covers($0.dot) }
    }
  }
}
