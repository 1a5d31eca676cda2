import GodwitBase

/// One operation on one row, with its cause: who wrote it, when, and what its author had seen.
package struct RowWrite: Hashable, Sendable {
  package let kind: OperationKind
  package let stamp: CellStamp
  /// What the author held when writing, its own earlier transactions and this one included.
  package let context: VersionVector
  package let cells: [Cell]

  package init(kind: OperationKind, stamp: CellStamp, context: VersionVector, cells: [Cell]) {
    self.kind = kind
    self.stamp = stamp
    self.context = context
    self.cells = cells
  }
}

/// A write that lost to one that had not seen it, or that it had not seen.
package struct LostWrite: Hashable, Sendable {
  /// What of it lost.
  package enum Part: Hashable, Sendable {
    case cell(Int)
    /// All there is of a row that has nothing beside its key.
    case row
    /// The delete of the whole row.
    case delete
  }

  package let part: Part
  /// What the losing write had written to the cell; NULL otherwise.
  package let value: Value
  /// What the winning write had written to the cell; NULL otherwise.
  package let winningValue: Value
  package let loser: CellStamp
  package let winner: CellStamp

  package init(
    _ part: Part, value: Value = .null, winningValue: Value = .null, loser: CellStamp, winner: CellStamp
  ) {
    self.part = part
    self.value = value
    self.winningValue = winningValue
    self.loser = loser
    self.winner = winner
  }
}
