import GodwitBase

/// Merges writes into one row: the rules of Specs/merge.md as a pure function of the row's state and cells.
///
/// Every part of the state is a join (greatest stamp, greatest touch, union of deletes), so the outcome does not
/// depend on the order of writes that had not seen each other.
package struct RowMerge {
  package private(set) var state: RowState
  /// Cells whose value changed, by column number.
  package private(set) var written: [Int: Value] = [:]
  package private(set) var lost: [LostWrite] = []

  package init(_ state: RowState) { self.state = state }

  /// Takes in one write. `current` gives the value a column has now, before this merge, and is asked only when
  /// that value loses to a write that had not seen it.
  package mutating func apply(_ write: RowWrite, current: (Int) throws -> Value) rethrows {
    switch write.kind {
    case .delete:
      recordLostDelete(write)
      state.deletes.insert(write.stamp)
    case .insert:
      try applyCells(write, current: current)
      if state.base.map({ $0 < write.stamp }) ?? true {
        state.base = write.stamp
        state.overrides = state.overrides.filter { $0.value > write.stamp }
      }
      touch(write)
    case .update:
      try applyCells(write, current: current)
      touch(write)
    }
  }

  private mutating func touch(_ write: RowWrite) {
    let dot = write.stamp.dot
    for delete in state.deletes.sorted() where !write.context.covers(delete.dot) {
      recordOnce(LostWrite(column: nil, value: .null, loser: delete, winner: write.stamp))
    }
    state.touches[dot.origin] = max(state.touches[dot.origin], dot.sequence)
  }

  /// A delete is listed once per merge however many writes outlive it.
  private mutating func recordOnce(_ loss: LostWrite) {
    guard !lost.contains(where: { $0.column == nil && $0.loser == loss.loser }) else { return }
    lost.append(loss)
  }

  /// Column by column, the greater stamp wins. Neither write saw the other exactly when the later to arrive had
  /// not seen the one that is here: causes arrive before their effects.
  private mutating func applyCells(_ write: RowWrite, current: (Int) throws -> Value) rethrows {
    for cell in write.cells {
      let present = state.stamp(of: cell.column)
      let isConcurrent = present.map { !write.context.covers($0.dot) } ?? false
      if let present, present > write.stamp {
        if isConcurrent {
          try recordLoss(cell, incoming: write.stamp, present: present, incomingWins: false, current: current)
        }
        continue
      }
      if let present, isConcurrent {
        try recordLoss(cell, incoming: write.stamp, present: present, incomingWins: true, current: current)
      }
      written[cell.column] = cell.value
      if write.kind == .update { state.overrides[cell.column] = write.stamp }
    }
  }

  /// Two writes of the same value are no conflict: nothing is lost.
  private mutating func recordLoss(
    _ cell: Cell, incoming: CellStamp, present: CellStamp, incomingWins: Bool, current: (Int) throws -> Value
  ) rethrows {
    let presentValue = try written[cell.column] ?? current(cell.column)
    guard presentValue != cell.value else { return }
    lost.append(
      incomingWins
        ? LostWrite(column: cell.column, value: presentValue, loser: present, winner: incoming)
        : LostWrite(column: cell.column, value: cell.value, loser: incoming, winner: present))
  }

  /// A delete loses to the greatest write it had not seen.
  private mutating func recordLostDelete(_ write: RowWrite) {
    let unseen = ([state.base].compactMap { $0 } + state.overrides.values).filter { !write.context.covers($0.dot) }
    guard let winner = unseen.max(), winner.dot != write.stamp.dot else { return }
    recordOnce(LostWrite(column: nil, value: .null, loser: write.stamp, winner: winner))
  }
}
