import GodwitBase

/// A write that has had to wait for a schema may come after moves and deletes whose authors had seen it. It follows none of
/// those moves and brings nothing back; and what went with them though it was older than that write goes back
/// (Specs/migrations.md, "Quarantine").
extension RowMerge {
  /// Moves and deletes learn that they had seen a write. What an older program carried in the place of what it could not show
  /// is listed.
  mutating func teach(_ write: RowWrite) throws {
    let dot = write.stamp.dot
    state.removed[dot.origin] = max(state.removed[dot.origin], dot.sequence)
    for move in state.moves.sorted(by: { $0.stamp < $1.stamp }) {
      guard let seer = write.seers[move.stamp.dot] else { continue }
      let overtaken = stampedCells(of: write).map(\.column).filter { move.isFollowed(by: write.stamp, to: $0) }
      let stamps = Dictionary(uniqueKeysWithValues: overtaken.map { ($0, write.stamp) })
      var seen = move.seen
      if write.kind != .update { seen[dot.origin] = seer.context[dot.origin] }
      let taught = RowMove(
        stamp: move.stamp, target: move.target, cells: move.cells.merging(stamps) { $1 }, seen: seen)
      state.moves.remove(move)
      state.moves.insert(taught)
      guard !overtaken.isEmpty else { continue }
      var edits = FollowingEdits(taught)
      edits.overtaken = .init(cells: stamps, context: seer.context)
      following.append(edits)
      if seer.isBlind { try recordLosses(of: write, in: Set(overtaken), to: move) }
    }
  }

  private mutating func recordLosses(of write: RowWrite, in columns: Set<Int>, to move: RowMove) throws {
    for cell in write.cells where columns.contains(cell.column) {
      let value = try value(of: cell.column)
      guard value != cell.value else { continue }
      lost.append(
        LostWrite(.cell(cell.column), value: cell.value, winningValue: value, loser: write.stamp, winner: move.stamp))
    }
  }

  /// Takes away what a move should not have brought here, and returns it: later moves may have taken it from here.
  mutating func withdraw(_ edits: FollowingEdits) throws -> [Int: StampedValue] {
    var gone = edits.withdrawn.filter { state.brought[$0.key]?[edits.move] == $0.value }
    for (column, stamp) in edits.overtaken?.cells ?? [:] {
      if let cell = state.brought[column]?[edits.move], cell.stamp < stamp { gone[column] = cell }
    }
    for (column, cell) in gone.sorted(by: { $0.key < $1.key }) {
      let isShown =
        try state.carried[column] == nil && state.stamp(of: column) == cell.stamp && value(of: column) == cell.value
      state.brought[column]?[edits.move] = nil
      if state.brought[column]?.isEmpty == true { state.brought[column] = nil }
      if isShown { try restore(column, edits) }
    }
    return gone
  }

  /// What the move carries is shown again, unless something is here that it had not seen.
  private mutating func restore(_ column: Int, _ edits: FollowingEdits) throws {
    let last = state.stamp(of: column)
    let isSeen = edits.overtaken.map { state.isSeen(column, by: $0.context) } ?? last.map { $0 < edits.move } ?? true
    if isSeen {
      state.carried[column] = edits.move
      written[column] = try recall(column, edits.move.dot)
    } else if let brought = state.brought[column]?.values.max(by: { $0.isOutdone(by: $1) }), brought.stamp == last {
      written[column] = brought.value
    } else if let last {
      written[column] = try recall(column, last.dot)
    }
  }
}
