import GodwitBase
import GodwitReplication

/// Where the values of one table of a change set land in this replica's table.
struct ColumnLandings {
  struct Landing {
    /// The column here, or nil when it is not known here yet.
    let number: Int?
    let name: String
    let conversions: [Conversion]
  }

  private(set) var fate: TableCarriage.Fate
  /// The table here; nil unless the fate is to be here.
  private(set) var table: CatalogTable?
  /// By the change set's column number; nowhere for one that was dropped.
  private(set) var columns: [Int: [Landing]] = [:]
  /// What inserts write besides, because their author had not got these columns.
  private(set) var additions: [(number: Int, addition: TableCarriage.Addition)] = []
  /// Columns here that take neither NULL nor a default.
  private(set) var required: Set<Int> = []
  /// Whether operations can be taken as they are.
  private(set) var isIdentity = false

  init(_ remote: ChangeSet.Table, _ carriage: TableCarriage, in catalog: Catalog) throws {
    guard case .here(let name) = carriage.fate else {
      fate = carriage.fate
      table = nil
      return
    }
    guard let table = catalog[name], table.definition.isSynced else {
      fate = .unknown("table \(name)")
      self.table = nil
      return
    }
    fate = carriage.fate
    self.table = table
    let definition = table.definition
    for (column, targets) in zip(remote.columns, carriage.columns) {
      columns[column.index] = targets.map { target in
        var number = target.isUnknown ? nil : definition.number(of: target.name)
        // What an update does to a counter or set means nothing to a column that holds values, nor the other way round.
        if let here = number, definition.columns[here].merge.isRelative != column.isRelative { number = nil }
        // What is added or taken away stays the same where only the default or check of the column changes.
        return Landing(
          number: number, name: target.name, conversions: column.isRelative ? [] : target.conversions)
      }
    }
    guard hasKey(of: remote, definition) else {
      // As much is unknown here as a table of another name: it waits, and the rest of the file goes on.
      fate = .unknown("table \(name) with another key")
      self.table = nil
      columns = [:]
      return
    }
    additions = carriage.additions.compactMap { addition in
      definition.number(of: addition.name).map { ($0, addition) }
    }
    if remote.columns.count == remote.columnCount, !definition.isCollection { addDefaults(definition) }
    required = Set(
      definition.columns.indices.dropFirst(definition.keyCount).filter {
        !definition.columns[$0].isNullable && definition.columns[$0].defaultValue == nil
      })
    isIdentity = isUnchanged(remote, carriage, definition)
  }

  /// An insert whose author has fewer columns says of the others that they hold their defaults: so its row does where a
  /// column is added later, and its stamp stands for all of them.
  private mutating func addDefaults(_ definition: TableDefinition) {
    let reached = Set(columns.values.joined().compactMap(\.number)).union(additions.map(\.number))
    for (number, column) in definition.columns.enumerated().dropFirst(definition.keyCount)
    where !reached.contains(number) && (column.isNullable || column.defaultValue != nil) {
      additions.append((number, TableCarriage.Addition(name: column.name, value: column.defaultValue ?? .null)))
    }
  }

  /// A row's key is its values in the order of the columns, so key columns must stand in the same places.
  private func hasKey(of remote: ChangeSet.Table, _ definition: TableDefinition) -> Bool {
    let places = (0..<remote.keyCount).map { columns[$0]?.first }
    let isSame = places.enumerated().allSatisfy { place, landing in
      landing?.number == place && landing?.conversions.isEmpty == true
    }
    let others = columns.filter { $0.key >= remote.keyCount }.values.joined().compactMap(\.number)
    return isSame && remote.keyCount == definition.keyCount && others.allSatisfy { $0 >= definition.keyCount }
  }

  private func isUnchanged(
    _ remote: ChangeSet.Table, _ carriage: TableCarriage, _ definition: TableDefinition
  ) -> Bool {
    let isSame = remote.columns.allSatisfy { column in
      guard let landings = columns[column.index], landings.count == 1, let number = landings[0].number else {
        return false
      }
      return landings[0].conversions.isEmpty && definition.columns[number].name == column.name
    }
    let isWhole = remote.columns.count == remote.columnCount
    let reached = Set(columns.values.joined().compactMap(\.number))
    return isSame && definition.name == remote.name && additions.isEmpty
      && (!isWhole || required.isSubset(of: reached))
  }
}
