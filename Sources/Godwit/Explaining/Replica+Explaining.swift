import GodwitBase
import GodwitModel
import GodwitCore
import GodwitEngine
import GodwitStorage

extension Replica {
  /// What happened to a replica's rows: its transactions, where values come from, and what waits for what.
  public struct History: Sendable {
    let replica: Replica
  }

  /// What happened to the replica's rows.
  public var history: History { History(replica: self) }
}

extension Replica.History {
  /// The rows that their tables do not show, or not whole, in the order of table and key.
  ///
  /// - Throws: `invalidArgument` for a negative limit.
  public func limbo(limit: Int = 100) async throws -> [LimboRow] {
    try Replica.check(limit)
    return try await replica.pool.read { try RowHistory($0).limbo(limit: limit) }
  }

  /// Where the cells of a model's row come from, and why it is there or not. Writes nothing.
  ///
  /// - Parameters:
  ///   - model: The model.
  ///   - key: The row's key.
  ///   - property: The one property to explain; all of them by default.
  /// - Throws: As ``explain(table:key:column:)``.
  public func explain<Root: Model>(
    _ model: Root.Type, _ key: Root.ID, property: PartialKeyPath<Root>? = nil
  ) async throws -> RowExplanation {
    let column = try property.map { Root.schema.columns[try Root.schema.column(for: $0)].name }
    return try await explain(table: Root.schema.table, key: key.valuesOfColumns(), column: column)
  }

  /// Where a row's cells come from, and why it is there or not. Writes nothing.
  ///
  /// Takes time in proportion to the transactions since the last import that had something to merge, which the row's
  /// own state does not know yet.
  ///
  /// - Parameters:
  ///   - table: A synced table.
  ///   - key: The values of its key columns, in their order.
  ///   - column: The one column to explain; all of them by default.
  /// - Throws: `notInSchema` for an unknown table or column, `invalidArgument` when the key has another number of
  ///   values, `notFound` when nothing is remembered of such a row and no conflict is listed.
  public func explain(table: String, key: [Value], column: String? = nil) async throws -> RowExplanation {
    try await replica.pool.read { connection in
      let history = try RowHistory(connection)
      let definition = try history.tables.catalog.everSynced(named: table, on: connection).definition
      guard definition.isSynced else {
        throw GodwitError(
          .notInSchema, "table \(definition.name) is not synced any more, and of its rows nothing is remembered",
          hint: "its conflicts are listed still: godwit conflicts --table \(definition.name)")
      }
      guard let found = try history.tables.named(table), key.count == definition.keyCount else {
        let names = definition.columns.prefix(definition.keyCount).map(\.name).joined(separator: ", ")
        throw GodwitError(.invalidArgument, "the key of table \(table) is made of \(names)")
      }
      let number = try column.map { name in
        guard
          let number = definition.columns.firstIndex(where: { $0.name.lowercased() == name.lowercased() }),
          number >= definition.keyCount
        else {
          let names = definition.columns.dropFirst(definition.keyCount).map(\.name).joined(separator: ", ")
          throw GodwitError(
            .notInSchema, "table \(table) has no column \(name) beside its key", hint: "it has: \(names)")
        }
        return number
      }
      let stored = try StoredKey(key, of: definition, on: connection)
      return try history.explain(found, key: stored.values, column: number)
    }
  }
}
