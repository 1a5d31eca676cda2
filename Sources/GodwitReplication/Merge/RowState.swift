import GodwitBase

/// What a replica remembers of one row besides its cells, so that writes merge the same in any order
/// (Specs/merge.md, "Row state").
package struct RowState: Hashable, Sendable {
  /// The stamp of every cell that has no override: that of the greatest insert. Nil before any insert is known.
  package var base: CellStamp?
  /// Stamps of cells written after the base, by column number. Always greater than the base.
  package var overrides: [Int: CellStamp]
  /// Origin → last sequence that inserted or updated the row.
  package var touches: VersionVector
  /// The transactions that deleted the row, and when.
  package var deletes: Set<CellStamp>
  /// The cells of a row that is not alive, by column number less the key count: an edit that a delete had not
  /// seen brings them back.
  package var image: [Value]?

  package init(
    base: CellStamp? = nil, overrides: [Int: CellStamp] = [:], touches: VersionVector = VersionVector(),
    deletes: Set<CellStamp> = [], image: [Value]? = nil
  ) {
    self.base = base
    self.overrides = overrides
    self.touches = touches
    self.deletes = deletes
    self.image = image
  }

  package func stamp(of column: Int) -> CellStamp? { overrides[column] ?? base }

  /// The row is alive while some write is in no delete's context: a delete removes what it saw.
  package func isAlive(contextOf: (Dot) throws -> VersionVector) rethrows -> Bool {
    if deletes.isEmpty { return !touches.isEmpty }
    let contexts = try deletes.map { try contextOf($0.dot) }
    return touches.entries.contains { origin, sequence in
      !contexts.contains { $0.covers(Dot(origin, sequence)) }
    }
  }
}
