import GodwitBase
import GodwitCore

/// A row as the rules make it of what is here and of writes that come to it.
struct MergedRow {
  /// The row as it was, if it was alive.
  let before: LivingRow?
  /// What was remembered of the row.
  let known: RowState
  /// The values before, also of a row that was not shown.
  let stored: [Value]
  private var merge: RowMerge
  private let table: MergeTable
  private static let expiryColumn = CollectionTable.ownColumnCount - 1
  /// By the dots of deletes, the expiry that they had seen, where a write of this merge had set it anew.
  private var seenExpiries: [Dot: Value] = [:]

  init(_ key: RowKey, in places: RowPlaces) throws {
    let table = try places.tables[key.table]
    self.table = table
    before = try places.load(key)
    // Who changes a row that nobody has inserted makes none; the change waits there for an insert.
    known = try before?.state ?? places.states.load(key) ?? RowState()
    let first = before?.values ?? table.completed(known.hiddenCells ?? [])
    stored = first
    let keyCount = table.definition.keyCount
    merge = RowMerge(known, table.rules) { first[$0 - keyCount] }
  }

  /// Takes in one write, of which all causes have been taken in before.
  mutating func apply(_ write: RowWrite) throws {
    if write.kind == .delete, let expiry = newExpiry(seenBy: write) { seenExpiries[write.stamp.dot] = expiry }
    try merge.apply(write)
  }

  /// The columns beside the key, hidden references as they really are.
  var values: [Value] {
    var values = stored
    for (column, value) in merge.written { values[column - table.definition.keyCount] = value }
    return values
  }

  var state: RowState { merge.state }
  var isAlive: Bool { state.isAlive(table.definition.deletes) }
  /// The columns that were written.
  var written: some Collection<Int> { merge.written.keys }

  /// What the writes, and what was here, have lost to each other since the last call. A delete that was nobody's will
  /// is left out: that of a document which had expired, or whose expiry has been set anew by the write that it lost to
  /// (Specs/documents.md, "Expiry").
  mutating func takeLost() -> [LostWrite] { merge.takeLost().filter { !isSweep($0) } }

  private func isSweep(_ lost: LostWrite) -> Bool {
    guard lost.part == .delete, table.definition.isCollection else { return false }
    let known = seenExpiries[lost.loser.dot] ?? stored.first
    if case .integer(let expiry)? = known, expiry <= lost.loser.hlc.milliseconds { return true }
    return values.first != .null && state.stamp(of: Self.expiryColumn) == lost.winner
  }

  private func newExpiry(seenBy delete: RowWrite) -> Value? {
    guard table.definition.isCollection, let stamp = state.stamp(of: Self.expiryColumn),
      delete.context.covers(stamp.dot)
    else { return nil }
    return merge.written[Self.expiryColumn]
  }
}
