import GodwitBase

extension SchemaDraft {
  /// Why a reference leads nowhere.
  private enum Obstacle {
    case noTable
    case keyOfSeveralColumns
    case keyOfAnotherType
    /// The rows travel, and those that they refer to do not.
    case localTable
  }

  /// Refuses references that lead nowhere once all steps have run. Only then, since two tables may refer to each other.
  /// One that led nowhere before, and for the same reason, is not what the steps brought.
  package func checkReferences() throws {
    let now = Self.byName(tables.map(\.definition))
    let then = Self.byName(definitionsBefore)
    for table in tables {
      let old = table.origin.flatMap { then[$0.lowercased()] }
      for (column, source) in zip(table.definition.columns, table.sources) {
        guard let reference = column.reference,
          let obstacle = Self.obstacle(to: reference, of: table.definition, column, now)
        else { continue }
        let before = old.flatMap { old in
          old.columns.first { $0.name == source.column }.flatMap { column in
            column.reference.flatMap { Self.obstacle(to: $0, of: old, column, then) }
          }
        }
        guard obstacle != before else { continue }
        throw Self.refusal(obstacle, column.name, table.definition.name, reference.table)
      }
    }
  }

  private static func byName(_ tables: [TableDefinition]) -> [String: TableDefinition] {
    Dictionary(tables.map { ($0.name.lowercased(), $0) }, uniquingKeysWith: { first, _ in first })
  }

  private static func obstacle(
    to reference: Reference, of table: TableDefinition, _ column: ColumnDefinition, _ tables: [String: TableDefinition]
  ) -> Obstacle? {
    guard let target = tables[reference.table.lowercased()] else { return .noTable }
    guard target.keyCount == 1 else { return .keyOfSeveralColumns }
    guard target.columns[0].type == column.type else { return .keyOfAnotherType }
    return table.isSynced && !target.isSynced ? .localTable : nil
  }

  private static func refusal(
    _ obstacle: Obstacle, _ column: String, _ table: String, _ target: String
  ) -> GodwitError {
    let (problem, hint) =
      switch obstacle {
      case .noTable: ("which is not there", "make table \(target) in the same migration, or before")
      case .keyOfSeveralColumns: ("whose key has several columns", "refer to a table that has a key of one")
      case .keyOfAnotherType: ("whose key is of another type", "give both the same type")
      case .localTable:
        ("which is not synced as table \(table) is", "let both travel, or neither: startSync, stopSync")
      }
    return invalid(
      "column \(column) of table \(table) refers to table \(target), \(problem)", hint: "nothing was altered; \(hint)")
  }
}
