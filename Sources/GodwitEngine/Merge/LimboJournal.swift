import GodwitBase
import GodwitCore

/// What an import put into limbo, or hid of references, for the conflict log. A row that came out again is no conflict.
final class LimboJournal {
  enum Reason {
    /// Another row holds the unique value.
    case unique(Limbo.Reason, winner: RowKey)
    /// The row it refers to is not shown.
    case reference(column: Int, parent: RowKey)
    /// A constraint of this replica that its author did not have.
    case constraint
  }

  private(set) var rows: [RowKey: Reason] = [:]
  private(set) var hiddenReferences: [RowKey: [Int: Value]] = [:]

  /// The rows that a constraint of this replica's own has kept out, in the order of their keys.
  var refused: [RowKey] {
    rows.filter { entry in if case .constraint = entry.value { true } else { false } }.keys.sorted()
  }

  func entered(_ key: RowKey, _ reason: Reason) { rows[key] = reason }
  func left(_ key: RowKey) { rows[key] = nil }

  func hidReference(_ row: LivingRow, column: Int) { hiddenReferences[row.key, default: [:]][column] = .null }

  /// Lists what is so still at the end, with the writes that met.
  func write(to conflicts: ConflictLog, _ places: RowPlaces) throws -> Int {
    var count = 0
    for (key, reason) in rows.sorted(by: { $0.key < $1.key }) {
      guard let row = try places.load(key), !row.isShown else { continue }
      if case .constraint = reason { try places.limbo.add(Limbo.Reason(constraintOf: key.table), for: key) }
      if try conflicts.add(try entry(row, reason, places)) { count += 1 }
    }
    for (key, columns) in hiddenReferences.sorted(by: { $0.key < $1.key }) {
      guard let row = try places.load(key) else { continue }
      for column in columns.keys.sorted() {
        guard let value = row.state.hiddenReferences[column] else { continue }
        let table = try places.tables[key.table]
        let entry = ConflictEntry(
          kind: .reference, row: key, columns: [table.definition.columns[column].name], values: [value],
          winningValues: [.null], loser: row.state.stamp(of: column), winner: nil)
        if try conflicts.add(entry) { count += 1 }
      }
    }
    return count
  }

  private func entry(_ row: LivingRow, _ reason: Reason, _ places: RowPlaces) throws -> ConflictEntry {
    let table = try places.tables[row.key.table]
    let columns = table.definition.columns
    func stamp(_ key: RowKey, _ numbers: [Int]) throws -> CellStamp? {
      let state = try places.states.load(key) ?? .stable
      return numbers.filter { $0 >= table.definition.keyCount }.compactMap { state.stamp(of: $0) }.max()
    }
    switch reason {
    case .unique(let target, let winner):
      let (_, name, values) = try target.claim()
      let numbers = table.uniqueIndexes.first { $0.name == name }?.columns ?? []
      return ConflictEntry(
        kind: .unique, row: row.key, columns: numbers.map { columns[$0].name }, values: values, winningValues: values,
        loser: try stamp(row.key, numbers), winner: try stamp(winner, numbers))
    case .reference(let column, let parent):
      let deletes = try places.states.load(parent)?.deletes ?? []
      return ConflictEntry(
        kind: .reference, row: row.key, columns: [columns[column].name],
        values: [try table.row(row.key, row.values)[column]], winningValues: [.null],
        loser: row.state.stamp(of: column), winner: deletes.max())
    case .constraint:
      return ConflictEntry(
        kind: .constraint, row: row.key, columns: [], values: [], winningValues: [], loser: row.state.base, winner: nil)
    }
  }
}
