import GodwitBase

/// A write that has had to wait for a schema may come after moves whose authors had seen it. It follows none of them; and
/// what went with them though it was older than that write goes back (Specs/migrations.md, "Quarantine").
extension RowMerge {
  /// Moves that had seen a write learn of its stamps. What an older program carried in the place of what it could not show
  /// is listed.
  mutating func teach(_ write: RowWrite) throws {
    for move in state.moves.sorted(by: { $0.stamp < $1.stamp }) {
      guard let seer = write.seers[move.stamp.dot] else { continue }
      var cells = move.cells
      var overtaken: [Int: CellStamp] = [:]
      for column in stampedColumns(of: write) where move.isFollowed(by: write.stamp, to: column) {
        cells[column] = write.stamp
        overtaken[column] = write.stamp
      }
      guard !overtaken.isEmpty else { continue }
      state.moves.remove(move)
      let taught = RowMove(stamp: move.stamp, target: move.target, cells: cells, seen: move.seen)
      state.moves.insert(taught)
      var edits = FollowingEdits(taught)
      edits.overtaken = .init(cells: overtaken, context: seer.context)
      following.append(edits)
      if seer.isBlind { try recordLosses(of: write, in: Set(overtaken.keys), to: move) }
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

  /// Of a move those that it changed besides.
  private func stampedColumns(of write: RowWrite) -> [Int] {
    write.cells.map(\.column).filter { column in
      rules.policy(of: column) == .lastWriterWins && (write.kind != .move || write.changed.contains(column))
    }
  }

  /// Takes away what a move should not have brought here, and returns it: later moves may have taken it from here.
  mutating func withdraw(_ edits: FollowingEdits) throws -> [Int: StampedValue] {
    var gone: [Int: StampedValue] = [:]
    for (column, stamp) in edits.overtaken?.cells ?? [:] {
      if let cell = state.brought[column]?[edits.move], cell.stamp < stamp { gone[column] = cell }
    }
    for (column, cell) in edits.withdrawn where state.brought[column]?[edits.move] == cell { gone[column] = cell }
    for (column, cell) in gone { try withdraw(cell, of: column, edits) }
    return gone
  }

  private mutating func withdraw(_ cell: StampedValue, of column: Int, _ edits: FollowingEdits) throws {
    let isShown = try state.carried[column] == nil && state.stamp(of: column) == cell.stamp && value(of: column) == cell.value
    state.brought[column]?[edits.move] = nil
    if state.brought[column]?.isEmpty == true { state.brought[column] = nil }
    guard isShown else { return }
    // The move carries what was at the old key, unless something is here that it had not seen.
    let last = state.stamp(of: column)
    let isSeen = last.map { edits.overtaken?.context.covers($0.dot) ?? ($0 < edits.move) } ?? true
    if isSeen { state.carried[column] = edits.move }
    written[column] = try recall(column, isSeen ? edits.move.dot : last?.dot ?? edits.move.dot)
  }
}
