import GodwitBase
import GodwitCore

/// Where one table of a change set stands here, and where the values of its columns go.
struct TableTerms {
  /// A table or column that is not here at this version, and that no step took away.
  struct Missing: Error { let what: String }

  struct Target {
    /// The column here.
    let number: Int
    let conversions: [Conversion]
  }

  /// A column that inserts do not name, since their author had not got it.
  struct Addition {
    let number: Int
    let value: Value
    let conversions: [Conversion]
  }

  let table: CatalogTable
  /// By the change set's column number; empty for one that was dropped.
  private(set) var targets: [Int: [Target]] = [:]
  private(set) var additions: [Addition] = []
  /// Whether operations can be taken as they stand.
  private(set) var isPlain = false

  /// Nil when a step has taken the table, or its sync, away. Throws ``Missing``.
  init?(_ remote: ChangeSet.Table, _ path: TablePath, in catalog: Catalog) throws {
    guard let name = path.name else { return nil }
    guard let table = catalog[name], table.definition.isSynced else { throw Missing(what: "table \(name)") }
    self.table = table
    let definition = table.definition
    for (column, places) in zip(remote.columns, path.columns) {
      targets[column.index] = try places.map { place in
        let what = "column \(place.name) of table \(definition.name)"
        guard let number = definition.number(of: place.name) else { throw Missing(what: what) }
        // What an update does to a counter or set means nothing to a column that holds values, nor the other way round.
        guard definition.columns[number].merge.isRelative == column.isRelative else {
          throw Missing(what: "\(what) with another merge policy")
        }
        // What is added or taken away stays the same where only the default or check of the column changes.
        return Target(number: number, conversions: column.isRelative ? [] : place.conversions)
      }
    }
    guard hasKey(of: remote) else { throw Missing(what: "table \(name) with another key") }
    additions = path.additions.compactMap { addition in
      definition.number(of: addition.name).map {
        Addition(number: $0, value: addition.value, conversions: addition.conversions)
      }
    }
    if remote.columns.count == remote.columnCount, !definition.isCollection { addDefaults() }
    isPlain = isUnchanged(remote)
  }

  /// A cell by this table's column numbers, in the form that the column keeps. What comes to a counter or set is no
  /// value of the column's.
  func stored(_ cell: Cell) -> Cell {
    guard !table.definition.columns[cell.column].merge.isRelative else { return cell }
    return Cell(column: cell.column, value: table.definition.stored(cell.value, in: cell.column))
  }

  /// An insert whose author has fewer columns says of the others that they hold their defaults: so its row does where a
  /// column is added later, and its stamp stands for all of them.
  private mutating func addDefaults() {
    let reached = Set(targets.values.joined().map(\.number)).union(additions.map(\.number))
    for (number, column) in table.definition.columns.enumerated().dropFirst(table.definition.keyCount)
    where !reached.contains(number) && !column.merge.isContributed && (column.isNullable || column.defaultValue != nil)
    {
      additions.append(Addition(number: number, value: column.defaultValue ?? .null, conversions: []))
    }
  }

  /// A row's key is its values in the order of the columns, so key columns must stand in the same places.
  private func hasKey(of remote: ChangeSet.Table) -> Bool {
    let keyCount = table.definition.keyCount
    let isSame = (0..<remote.keyCount).allSatisfy { place in
      guard let target = targets[place]?.first else { return false }
      return target.number == place && target.conversions.isEmpty
    }
    let others = targets.filter { $0.key >= remote.keyCount }.values.joined()
    return isSame && remote.keyCount == keyCount && others.allSatisfy { $0.number >= keyCount }
  }

  /// Whether every column stands here under its number and name.
  private func isUnchanged(_ remote: ChangeSet.Table) -> Bool {
    guard table.definition.name == remote.name, additions.isEmpty else { return false }
    return remote.columns.allSatisfy { column in
      guard let places = targets[column.index], places.count == 1, places[0].conversions.isEmpty else { return false }
      return places[0].number == column.index && table.definition.columns[column.index].name == column.name
    }
  }
}
