import GodwitBase
import GodwitCore
import GodwitStorage

extension Catalog {
  /// Refuses references that no row can ever keep: to a key of several columns, to a key of another type, and of rows
  /// that travel to rows that stay. SQLite finds fault with such a table whenever it checks references, so it is never
  /// made. What refers to a table that is not there yet waits for it.
  ///
  /// - Parameter made: The tables that are new, or have new columns. Others are as they have been.
  ///
  /// Throws `invalidSchema`.
  static func checkReferences(on connection: Connection, made: Set<String>) throws {
    try Catalog(connection).checkReferences(of: made)
  }

  /// The same of tables that are declared together, such as those of a file.
  static func checkReferences(among definitions: [TableDefinition]) throws {
    try Catalog(definitions).checkReferences(of: Set(definitions.map(\.name)))
  }

  /// Refuses models whose rows refer to a table that is not there when those of all models are: no row could ever hold
  /// a reference.
  ///
  /// Throws `invalidSchema`.
  func requireTargets(of models: [TableDefinition]) throws {
    for model in models {
      for column in model.columns {
        guard let target = column.reference?.table, self[target] == nil else { continue }
        throw GodwitError(
          .invalidSchema,
          "column \(column.name) of table \(model.name) refers to table \(target), and no model of that is opened",
          hint: "nothing was altered; open the model of table \(target), too")
      }
    }
  }

  private func checkReferences(of made: Set<String>) throws {
    let tables = tables.map(\.definition).filter { made.contains($0.name) }
    // Of two that do not fit, the one that refers to the other has to change. Where all are new, that finds all there
    // is.
    let isAllNew = tables.count == self.tables.count
    guard
      let (problem, hint) = tables.lazy.compactMap(misfit(from:)).first
        ?? (isAllNew ? nil : tables.lazy.compactMap(misfit(to:)).first)
    else { return }
    throw GodwitError(.invalidSchema, problem, hint: "nothing was altered; \(hint)")
  }

  private typealias Misfit = (problem: String, hint: String)

  /// Whether no row can keep a reference of a table, or to it, among the tables that are here.
  func hasMisfit(_ table: TableDefinition) -> Bool { misfit(from: table) != nil || misfit(to: table) != nil }

  /// Whether no row of a table can keep the reference of a column among the tables that are here.
  func isMisfit(_ column: ColumnDefinition, of table: TableDefinition) -> Bool {
    guard let reference = column.reference, let target = self[reference.table]?.definition else { return false }
    return Self.problem(of: column, of: table, to: target) != nil
  }

  private func misfit(from table: TableDefinition) -> Misfit? {
    for column in table.columns {
      guard let reference = column.reference else { continue }
      let target = reference.table.lowercased() == table.name.lowercased() ? table : self[reference.table]?.definition
      guard let target, let (problem, hint) = Self.problem(of: column, of: table, to: target) else { continue }
      return ("column \(column.name) of table \(table.name) refers to table \(target.name), \(problem)", hint)
    }
    return nil
  }

  private func misfit(to table: TableDefinition) -> Misfit? {
    for other in tables.map(\.definition) where other.name.lowercased() != table.name.lowercased() {
      for column in other.columns where column.reference?.table.lowercased() == table.name.lowercased() {
        guard let (problem, hint) = Self.problem(of: column, of: other, to: table) else { continue }
        return (
          "table \(table.name) cannot be made: column \(column.name) of table \(other.name) refers to it, \(problem)",
          hint
        )
      }
    }
    return nil
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
