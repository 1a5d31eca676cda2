import GodwitBase

/// What a replica remembers of one row besides its cells, so that writes merge the same in any order
/// (Specs/merge.md, "Row state").
package struct RowState: Hashable, Sendable {
  /// The stamp of every cell that has no override: that of the greatest insert. Nil when it is not known, or
  /// forgotten, which is older than any.
  package var base: CellStamp?
  /// Stamps of cells written under this key after the base, by column number. Always greater than the base.
  package var overrides: [Int: CellStamp] = [:]
  /// The cells that came with a move to this key, by column number, with the move's stamp. Such a cell is as old as the
  /// stamp that the column has beside, of what it replaced.
  package var carried: [Int: CellStamp] = [:]
  /// The cells that followed a move to this key, by column number and by the move's stamp: the last of each move, and only
  /// while it is greater than what was written here.
  package var brought: [Int: [CellStamp: StampedValue]] = [:]
  /// Where the row went from this key: what had not seen that follows it there.
  package var moves: Set<RowMove> = []
  /// Origin → last sequence that inserted the row.
  package var inserts = VersionVector()
  /// Origin → last sequence that updated the row.
  package var updates = VersionVector()
  /// Origin → last sequence that updated the row without having seen that it had left: what went on by a move, and keeps
  /// nothing alive here.
  package var gone = VersionVector()
  /// The updates that followed a move to this key, by the move's stamp.
  package var followed: [CellStamp: FollowedUpdates] = [:]
  /// Origin of an insert or update → greatest sequence that some delete had seen.
  package var removed = VersionVector()
  /// The transactions that deleted the row, and when; under `.deleteWins` those that no insert has seen.
  package var deletes: Set<CellStamp> = []
  /// Some insert or update has been forgotten, and no delete has come since.
  package var isSettled = false
  /// By column number; what is forgotten of them stands in the cell's value.
  package var contributions: [Int: [Contribution]] = [:]
  /// The cells of a row that its table does not show, by column number less the key count.
  package var image: [Value]?
  /// The cells that the table shows as NULL because what they refer to is not shown.
  package var masks: [Int: Value] = [:]

  package init() {}

  /// The state of a row that is in its table and of which nothing is remembered: older than the frontier.
  package static let settled: RowState = {
    var state = RowState()
    state.isSettled = true
    return state
  }()

  /// The stamp of a column's last write.
  package func stamp(of column: Int) -> CellStamp? {
    let written = writtenStamp(of: column)
    guard let brought = brought[column]?.values.map(\.stamp).max() else { return written }
    return written.map { max($0, brought) } ?? brought
  }

  /// The same of what was written under this key.
  func writtenStamp(of column: Int) -> CellStamp? { overrides[column] ?? base }

  /// The greatest stamp of the column's writes that an author who held so much had seen, in this row.
  func seenStamp(of column: Int, by context: VersionVector) -> CellStamp? {
    let brought = (brought[column] ?? [:]).filter { context.covers($0.key.dot) }.map(\.value.stamp)
    return (brought + [writtenStamp(of: column)].compactMap { $0 }).filter { context.covers($0.dot) }.max()
  }

  /// Whether an author who held so much had seen the column's last write, and in this row.
  func isSeen(_ column: Int, by context: VersionVector) -> Bool {
    guard let last = stamp(of: column) else { return true }
    return seenStamp(of: column, by: context) == last
  }

  /// The greatest timestamp of all that is remembered.
  package var latest: HLC? {
    let stamps = Array(overrides.values) + Array(carried.values) + Array(deletes) + moves.map(\.stamp)
    let brought = brought.values.joined().map(\.value.stamp)
    return (stamps + brought + [base].compactMap { $0 }).map(\.hlc).max()
  }

  /// How old the row's claim to a unique value is, as far as the column tells.
  package func claimStamp(of column: Int) -> CellStamp? { carried[column] ?? stamp(of: column) }

  /// Whether anything but a delete is known of the row.
  private var hasTouches: Bool { isSettled || !inserts.isEmpty || !updates.isEmpty || hasFollowed }
  private var hasFollowed: Bool { followed.contains { !$0.value.staying.isEmpty } }

  /// A delete removes what it saw: the row is alive while some write is in no delete's context. Under `.deleteWins`
  /// it is alive when an insert has seen each delete.
  package func isAlive(_ policy: DeletePolicy) -> Bool {
    switch policy {
    case .deleteWins: return deletes.isEmpty && hasTouches
    case .editWins:
      if isSettled || hasFollowed { return true }
      func outlives(_ touches: VersionVector) -> Bool { touches.entries.contains { removed[$0.origin] < $0.sequence } }
      return outlives(inserts) || outlives(updates)
    }
  }
}
