import GodwitBase
import GodwitReplication
import GodwitStorage

/// Lists what a merge found to have lost (Specs/merge.md, "Conflicts"), but nothing that nobody wrote: what stands for a value that waits,
/// which is listed when it comes, or for one that its author's program had not got.
final class ConflictLister {
  private let conflicts: ConflictLog
  private let carried: CarriedLog
  private let tables: MergeTables
  /// How many entries are new.
  private(set) var count = 0
  private var authored: [Dot: AuthoredCells] = [:]
  private static let authoredLimit = 100

  init(_ conflicts: ConflictLog, _ carried: CarriedLog) {
    self.conflicts = conflicts
    self.carried = carried
    tables = carried.tables
  }

  /// What a change to a row lost. Where deletes win and its author's program had none of the columns here, that is the whole row.
  /// `ifUnlike` says that it may have been found before.
  func list(_ change: RowChange, ifUnlike: Bool) throws {
    guard !change.lost.isEmpty else { return }
    var told: [LostWrite] = []
    var standIns: [LostWrite] = []
    for lost in change.lost { if try isStandIn(lost, of: change.key) { standIns.append(lost) } else { told.append(lost) } }
    for lost in standIns where change.isDelete(lost.winner) && !told.contains(where: { $0.loser.dot == lost.loser.dot }) {
      if try authored(by: lost.loser.dot)?.isWaiting(for: change.key) == true { continue }
      told.append(LostWrite(.row, loser: lost.loser, winner: lost.winner))
    }
    for lost in told where !change.isSweep(lost) { try add(lost, of: change.key, ifUnlike: ifUnlike) }
  }

  /// What came late to a row, and had been overwritten.
  func listOverlooked(_ lost: LostWrite, of key: RowKey) throws {
    if try !isStandIn(lost, of: key) { try add(lost, of: key, ifUnlike: true) }
  }

  /// A cell of a row in limbo whose key another took.
  func listReplaced(_ replaced: LogFold.Replaced, of key: RowKey) throws {
    let entry = replaced.entry
    if try !isStandIn(entry.values.first ?? .null, in: replaced.column, of: key, by: entry.loser?.dot) { try add(entry) }
  }

  /// What waits in limbo.
  func list(_ limbo: LimboJournal, _ places: RowPlaces) throws {
    count += try limbo.write(to: conflicts, places, isWritten: isLackWritten)
    authored = [:]
  }

  private func add(_ lost: LostWrite, of key: RowKey, ifUnlike: Bool) throws {
    let entry = try entry(lost, key)
    if try ifUnlike && conflicts.hasLike(entry) { return }
    try add(entry)
  }

  private func add(_ entry: ConflictEntry) throws {
    if try conflicts.add(entry) { count += 1 }
  }

  // MARK: What nobody wrote

  private func isStandIn(_ lost: LostWrite, of key: RowKey) throws -> Bool {
    guard case .cell(let column) = lost.part else { return false }
    return try isStandIn(lost.value, in: column, of: key, by: lost.loser.dot)
  }

  private func isStandIn(_ value: Value, in column: Int, of key: RowKey, by dot: Dot?) throws -> Bool {
    if try value == .null && tables[key.table].required[column] { return true }
    guard let dot, try Quarantine.holds(dot, of: carried.log, on: carried.connection) else { return false }
    return try authored(by: dot)?.contains(column, of: key) == false
  }

  /// Whether somebody wrote NULL where the row needs a value: a program of this version does so by no way of its own.
  private func isLackWritten(_ row: LivingRow) throws -> Bool {
    let table = try tables[row.key.table]
    return try row.values.enumerated().contains { place, value in
      let column = place + table.definition.keyCount
      guard value == .null, table.required[column], let dot = row.state.stamp(of: column)?.dot else { return false }
      return try authored(by: dot)?.contains(column, of: row.key) == true
    }
  }

  /// Nil when the log does not have the transaction any more, or not yet.
  private func authored(by dot: Dot) throws -> AuthoredCells? {
    if let cells = authored[dot] { return cells }
    guard let cells = try carried.authoredCells(of: dot) else { return nil }
    if authored.count == Self.authoredLimit { authored = [:] }
    authored[dot] = cells
    return cells
  }

  // MARK: Entries

  private func entry(_ lost: LostWrite, _ key: RowKey) throws -> ConflictEntry {
    func whole(_ kind: Conflict.Kind) -> ConflictEntry {
      ConflictEntry(
        kind: kind, row: key, columns: [], values: [], winningValues: [], loser: lost.loser, winner: lost.winner)
    }
    switch lost.part {
    case .delete: return whole(.delete)
    case .row: return whole(.edit)
    case .cell(let column):
      return ConflictEntry(
        kind: .edit, row: key, columns: [try tables[key.table].definition.columns[column].name], values: [lost.value],
        winningValues: [lost.winningValue], loser: lost.loser, winner: lost.winner)
    }
  }
}
