/// The unique indexes that compare keys alone, because a migration made them or the values in them: what they would
/// compare by else may have been forgotten before, here and not there (Specs/merge.md, "Unique values").
package struct MigratedIndexes: Sendable {
  /// What migrations made of a table, in small letters.
  private struct Table {
    /// Each by its columns.
    var indexes: Set<[String]> = []
    /// Columns whose values a rule made.
    var columns: Set<String> = []

    mutating func rename(_ column: String, to newName: String) {
      indexes = Set(indexes.map { $0.map { $0 == column ? newName : $0 } })
      if columns.remove(column) != nil { columns.insert(newName) }
    }
  }

  private var tables: [String: Table] = [:]

  /// - Parameter steps: All that have run, in their order.
  package init(_ steps: [SchemaStep]) {
    for step in steps { follow(step) }
  }

  package func contains(_ index: IndexDefinition, of table: String) -> Bool {
    guard let table = tables[table.lowercased()] else { return false }
    let columns = index.columns.map { $0.lowercased() }
    return table.indexes.contains(columns) || !table.columns.isDisjoint(with: columns)
  }

  private mutating func follow(_ step: SchemaStep) {
    guard let name = step.subject?.lowercased() else { return }
    var table = tables.removeValue(forKey: name) ?? Table()
    defer { tables[step.laterName ?? name] = table }
    switch step {
    case .dropTable: table = Table()
    case .addIndex(let index, _): table.indexes.insert(index.columns.map { $0.lowercased() })
    case .dropIndex(let columns, _): table.indexes.remove(columns.map { $0.lowercased() })
    case .changeColumn(let column, _, _), .addColumn(let column, _, from: .some):
      table.columns.insert(column.name.lowercased())
    case .dropColumn(let column, _): table.columns.remove(column.lowercased())
    case .renameColumn(let column, let newName, _): table.rename(column.lowercased(), to: newName.lowercased())
    case .createTable, .renameTable, .addColumn(_, _, from: nil), .setSynced, .data: break
    }
  }
}

extension SchemaStep {
  /// What its table is called from then on, in small letters, where that is something else.
  fileprivate var laterName: String? {
    if case .renameTable(_, let newName) = self { newName.lowercased() } else { nil }
  }
}
