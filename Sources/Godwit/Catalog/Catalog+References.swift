import GodwitBase
import GodwitReplication
import GodwitStorage

extension Catalog {
  /// Refuses references that no row can ever keep: to a key of several columns, to a key of another type, and of rows that
  /// travel to rows that stay. SQLite finds fault with such a table whenever it checks references, so it is never made.
  /// What refers to a table that is not there yet waits for it.
  ///
  /// - Parameter made: The tables that are new, or have new columns. Others are as they have been.
  ///
  /// Throws `invalidSchema`.
  static func checkReferences(on connection: Connection, made: Set<String>) throws {
    let known = try Catalog(connection)
    for table in known.tables.map(\.definition) where made.contains(table.name) {
      for column in table.columns {
        guard let reference = column.reference, let target = known[reference.table]?.definition,
          let (problem, hint) = problem(of: column, of: table, to: target)
        else { continue }
        throw GodwitError(
          .invalidSchema, "column \(column.name) of table \(table.name) refers to table \(target.name), \(problem)",
          hint: "nothing was altered; \(hint)")
      }
    }
    // A table that is new may be what others, made before, refer to.
    for table in known.tables.map(\.definition) where !made.contains(table.name) {
      for column in table.columns {
        guard let reference = column.reference, let target = known[reference.table]?.definition,
          made.contains(target.name), let (problem, hint) = problem(of: column, of: table, to: target)
        else { continue }
        throw GodwitError(
          .invalidSchema,
          "table \(target.name) cannot be made: column \(column.name) of table \(table.name) refers to it, "
            + "\(problem)", hint: "nothing was altered; \(hint)")
      }
    }
  }

  private static func problem(
    of column: ColumnDefinition, of table: TableDefinition, to target: TableDefinition
  ) -> (problem: String, hint: String)? {
    if target.keyCount != 1 {
      return ("whose key has \(target.keyCount) columns", "refer to a table that has a key of one")
    }
    if table.isSynced, !target.isSynced {
      return ("which is not synced as table \(table.name) is", "let both travel, or neither")
    }
    if target.columns[0].type != column.type {
      return (
        "whose key is of type \(target.columns[0].type), and the column is of type \(column.type)",
        "give both the same type"
      )
    }
    return nil
  }
}
