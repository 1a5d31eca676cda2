import Godwit
import GodwitReplication

/// What was written to a row by authors who had not seen that it left its key goes where the row went (Specs/merge.md,
/// "Moves").
extension MergeModel {
  /// The latest timestamp of what was written to some rows, or followed them from other keys.
  static func latest(of rows: Set<RowName>, in transactions: [HistoricTransaction], at version: Int) -> HLC? {
    let hasMoves = transactions.contains { transaction in
      transaction.operations.contains { if case .leave = $0.kind { true } else { false } }
    }
    guard hasMoves else {
      return transactions.filter { $0.operations.contains { rows.contains($0.row) } }.map(\.hlc).max()
    }
    let histories = MergeModel(transactions, at: version).histories
    // What only adds up has no timestamp to be later than, and a column that is gone at the version is written by nothing.
    return rows.compactMap { histories[$0] }.flatMap { history in
      let stamped = history.shape.columns.indices.filter {
        history.shape.columns[$0].policy == .lastWriterWins && history.shape.columns[$0].versions.contains(version)
      }
      return history.writes.filter { write in write.path.map { !$0.columns.isDisjoint(with: stamped) } ?? true }
    }.map(\.transaction.hlc).max()
  }

  mutating func followMoves() {
    // Of writes that follow a row some are followed by a later move themselves.
    var rest = histories.values.flatMap { history in history.writes.map { (name: history.name, write: $0) } }
    while let (name, write) = rest.popLast() {
      guard !write.isDelete, let history = histories[name] else { continue }
      for leaving in history.leaves where isFollower(write, of: leaving.write) {
        setGoingOn(write, in: name)
        let next = RowHistory.Write(
          transaction: write.transaction, kind: write.kind,
          path: .init(moves: (write.path?.moves ?? []) + [leaving.write.stamp], columns: history.columns(of: write, following: leaving.write)))
        histories[leaving.target, default: RowHistory(name: leaving.target, version: version)].writes.append(next)
        rest.append((leaving.target, next))
      }
    }
  }

  /// Whether neither author had seen the other's write. What came by a move goes on by those whose authors knew it.
  private func isFollower(_ write: RowHistory.Write, of leaving: RowHistory.Write) -> Bool {
    guard write.dot != leaving.dot, !leaving.saw(write), !write.saw(leaving) else { return false }
    return write.path?.move.map { leaving.transaction.context.covers($0.dot) } ?? true
  }

  private mutating func setGoingOn(_ write: RowHistory.Write, in name: RowName) {
    // An insert stays where it was made.
    guard !write.isInsert,
      let place = histories[name]?.writes.firstIndex(where: { $0.dot == write.dot && $0.path?.moves == write.path?.moves })
    else { return }
    histories[name]?.writes[place].goesOn = true
  }
}

extension RowHistory {
  fileprivate var leaves: [(write: Write, target: RowName)] {
    writes.compactMap { write in
      if case .leave(let target) = write.kind { (write, target) } else { nil }
    }
  }

  /// The cells that go along: those that no write which the move had seen had overwritten, and what adds up.
  fileprivate func columns(of write: Write, following leaving: Write) -> Set<Int> {
    Set(
      shape.columns.indices.dropFirst(shape.keyCount).filter { column in
        guard write.change(of: column) != nil else { return false }
        guard shape.columns[column].policy == .lastWriterWins else { return true }
        guard !write.carries(column) else { return false }
        return !writes(of: column).contains { !$0.carries(column) && leaving.sawHere($0) && write.precedes($0) }
      })
  }
}
