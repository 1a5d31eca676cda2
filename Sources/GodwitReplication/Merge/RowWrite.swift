import GodwitBase

/// One operation on one row, with its cause: who wrote it, when, and what its author had seen.
package struct RowWrite: Hashable, Sendable {
  package let kind: OperationKind
  package let stamp: CellStamp
  /// What the author held when writing, its own earlier transactions and this one included.
  package let context: VersionVector
  package let cells: [Cell]
  /// A delete that is a move from here: the new key.
  package let movedTo: [UInt8]?
  /// The columns that a move to here changed besides.
  package let changed: Set<Int>

  package init(
    kind: OperationKind, stamp: CellStamp, context: VersionVector, cells: [Cell], movedTo: [UInt8]? = nil,
    changed: Set<Int> = []
  ) {
    self.movedTo = movedTo
    self.changed = changed
    self.kind = kind
    self.stamp = stamp
    self.context = context
    self.cells = cells
  }

  /// The same with some of its cells.
  package func with(_ cells: [Cell]) -> RowWrite {
    RowWrite(kind: kind, stamp: stamp, context: context, cells: cells, movedTo: movedTo, changed: changed)
  }
}

/// A write that lost to one that had not seen it, or that it had not seen.
package struct LostWrite: Hashable, Sendable {
  /// The cell, or nil when what lost is the delete of the whole row.
  package let column: Int?
  /// What the losing write had written.
  package let value: Value
  /// What the winning write had written; NULL for a delete.
  package let winningValue: Value
  package let loser: CellStamp
  package let winner: CellStamp

  package init(column: Int?, value: Value, winningValue: Value, loser: CellStamp, winner: CellStamp) {
    self.column = column
    self.value = value
    self.winningValue = winningValue
    self.loser = loser
    self.winner = winner
  }
}
