import GodwitBase

/// What a replica remembers of one row besides its cells, so that writes merge the same in any order
/// (Specs/merge.md, "Row state").
package struct RowState: Hashable, Sendable {
  /// The stamp of every cell that has no override: that of the greatest insert. Nil when it is not known, or
  /// forgotten, which is older than any.
  package var base: CellStamp?
  /// Stamps of cells written after the base, by column number. Always greater than the base.
  package var overrides: [Int: CellStamp] = [:]
  /// Origin → last sequence that inserted the row.
  package var inserts = VersionVector()
  /// Origin → last sequence that updated the row.
  package var updates = VersionVector()
  /// Origin of an insert or update → greatest sequence that some delete had seen.
  package var removed = VersionVector()
  /// The transactions that deleted the row, and when; under `.deleteWins` those that no insert has seen.
  package var deletes: Set<CellStamp> = []
  /// Some insert or update has been forgotten, and no delete has come since.
  package var isStable = false
  /// By column number; what is forgotten of them stands in the cell's value.
  package var contributions: [Int: [Contribution]] = [:]
  /// The cells of a row that its table does not show, by column number less the key count.
  package var hiddenCells: [Value]?
  /// The cells that the table shows as NULL because what they refer to is not shown.
  package var hiddenReferences: [Int: Value] = [:]

  package init() {}

  /// The state of a row that is in its table and of which nothing is remembered: older than the frontier.
  package static let stable: RowState = {
    var state = RowState()
    state.isStable = true
    return state
  }()

  /// The stamp of a column's last write.
  package func stamp(of column: Int) -> CellStamp? { overrides[column] ?? base }

  /// The greatest timestamp of all that is remembered.
  package var latest: HLC? {
    (Array(overrides.values) + Array(deletes) + [base].compactMap { $0 }).map(\.hlc).max()
  }

  /// Whether somebody has inserted the row. Where no insert is remembered of one that was, it is stable, or has been
  /// deleted since.
  package var isInserted: Bool { isStable || !inserts.isEmpty || !deletes.isEmpty }

  /// A delete removes what it saw: a row that was inserted is alive while some write is in no delete's context. Under
  /// `.deleteWins` it is alive when an insert has seen each delete.
  package func isAlive(_ policy: DeletePolicy) -> Bool {
    guard isInserted else { return false }
    switch policy {
    case .deleteWins: return deletes.isEmpty
    case .editWins:
      if isStable { return true }
      func outlives(_ touches: VersionVector) -> Bool { touches.entries.contains { removed[$0.origin] < $0.sequence } }
      return outlives(inserts) || outlives(updates)
    }
  }
}
