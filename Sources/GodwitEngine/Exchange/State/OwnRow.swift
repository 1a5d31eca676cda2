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

  /// What the write has taken the place of, though its author may not have seen it, and the rules did not see that
  /// either: of each column once.
  mutating func takeReplaced(by write: RowWrite) -> [Cell] {
    guard let before = merged.before, before.isShown else { return [] }
    let keyCount = table.definition.keyCount
    let values = isAlive ? merged.values : nil
    let columns = write.kind == .delete ? Array(table.rules.columns) : write.cells.map(\.column)
    return columns.compactMap { column in
      let isRelative = write.kind == .update && table.rules.policy(of: column).isRelative
      let old = before.values[column - keyCount]
      guard !isRelative, old != .null, values?[column - keyCount] != old else { return nil }
      guard mayBeUnseen(column, by: write), given.insert(column).inserted else { return nil }
      return Cell(column: column, value: old)
    }
  }

  /// Where it is remembered who wrote a cell, the rules see what an insert or update loses. Of a row that is far ahead
  /// that may be remembered without the touches by which it would outlive a delete.
  private func mayBeUnseen(_ column: Int, by write: RowWrite) -> Bool {
    let known = merged.known
    if let stamp = known.stamp(of: column) {
      return write.kind == .delete && !write.context.covers(stamp.dot) && merged.state.stamp(of: column) == stamp
    }
    let contributions = known.contributions[column] ?? []
    return contributions.isEmpty || write.kind == .delete && !contributions.unseen(by: write.context).isEmpty
  }
}
