import GodwitBase

/// A row's going from one key to another.
package struct RowMove: Hashable, Sendable {
  /// Of the transaction that moved it.
  package let stamp: CellStamp
  /// The new key's encoded values.
  package let target: [UInt8]
  /// The greatest stamps that the move had seen of the row's cells, by column number: what is older does not follow.
  package let cells: [Int: CellStamp]
  /// Of the origins that had inserted the row, what the move had seen: so of every move to the old key whether it had.
  package let seen: VersionVector

  package init(stamp: CellStamp, target: [UInt8], cells: [Int: CellStamp] = [:], seen: VersionVector = .init()) {
    self.stamp = stamp
    self.target = target
    self.cells = cells
    self.seen = seen
  }

  /// Whether a write to a column, unseen by the move, goes along.
  func isFollowed(by stamp: CellStamp, to column: Int) -> Bool { cells[column].map { $0 < stamp } ?? true }

  /// Whether what an earlier move brings to the old key, unseen by this one, goes along: it belongs to the row that came
  /// by that move, which is the one that left only if the author knew it.
  func isFollowed(byWhatCame arrival: CellStamp) -> Bool { seen.covers(arrival.dot) }
}

/// What was written to a row under a key it has left, by authors who had not seen that: it goes where the row went
/// (Specs/merge.md, "Moves").
package struct FollowingEdits: Hashable, Sendable {
  package let target: [UInt8]
  /// The stamp of the move that they follow.
  package let move: CellStamp
  package var updates = VersionVector()
  package var cells: [Int: StampedValue] = [:]
  package var contributions: [Int: [Contribution]] = [:]
  /// A single write, of which the cells that are made of contributions: it takes back there what it had seen.
  package var write: RowWrite?
  /// The moves that the write came by before this one, the first first.
  package var path: [CellStamp] = []

  package init(_ move: RowMove) {
    target = move.target
    self.move = move.stamp
  }
}
