import GodwitBase
import GodwitCore
import GodwitStorage

/// Lists what a merge found to have lost (Specs/merge.md, "Conflicts").
final class ConflictLister {
  private let conflicts: ConflictLog
  private let tables: MergeTables
  /// How many entries are new.
  private(set) var count = 0

  init(_ conflicts: ConflictLog, _ tables: MergeTables) {
    self.conflicts = conflicts
    self.tables = tables
  }

  /// What writes to a row lost.
  func list(_ lost: [LostWrite], of key: RowKey) throws {
    for lost in lost { try add(entry(lost, key)) }
  }

  /// A cell of a row in limbo whose key another took.
  func listReplaced(_ replaced: ConflictEntry) throws { try add(replaced) }

  /// A row in limbo that will not come out, or the hidden references of one that is shown.
  func list(_ row: LivingRow) throws {
    let definition = try tables[row.key.table].definition
    let all = definition.columns.indices.dropFirst(definition.keyCount)
    let columns = row.isShown ? row.state.hiddenReferences.keys.sorted() : Array(all)
    let names = columns.map { definition.columns[$0].name }
    let values = columns.map { row.values[$0 - definition.keyCount] }
    try add(
      ConflictEntry(
        kind: row.isShown ? .reference : .constraint, row: row.key, columns: names, values: values,
        winningValues: values.map { _ in .null }, loser: row.state.base, winner: nil))
  }

  /// What waits in limbo.
  func list(_ limbo: LimboJournal, _ places: RowPlaces) throws { count += try limbo.write(to: conflicts, places) }

  private func add(_ entry: ConflictEntry) throws {
    if try conflicts.add(entry) { count += 1 }
  }

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
