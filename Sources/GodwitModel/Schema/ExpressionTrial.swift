import GodwitBase
import GodwitCore
import GodwitStorage

/// Compiles expressions of checks and rules, whose text the language has taken (Specs/expressions.md, "Two walls"), and
/// works out what they make of a value.
package enum ExpressionTrial {
  /// Compiles the check of a column before a table has it. Throws `invalidSchema`.
  package static func run(_ column: ColumnDefinition, of table: TableDefinition, on connection: Connection) throws {
    guard let check = column.check else { return }
    do {
      try column.requireExpression(check, "the check of column \(column.name) of table \(table.name)", .invalidSchema)
      try withStatement(check, over: column.name, on: connection) { _ in }
    } catch let error as GodwitError where error.code != .invalidSchema {
      throw GodwitError(
        .invalidSchema, "the check of column \(column.name) of table \(table.name) does not compile",
        hint: ExpressionLanguage.hint, underlying: error)
    }
  }

  /// Whether the column's default, which old rows will have, passes its check. A check that fails to come to a result
  /// lets nothing pass.
  package static func passesDefault(_ column: ColumnDefinition, on connection: Connection) throws -> Bool {
    guard let check = column.check else { return true }
    do {
      let result = try value(of: "NOT (\(check))", over: column.name, column.defaultValue ?? .null, on: connection)
      return result != .integer(1)
    } catch let error as GodwitError where error.code == .constraint {
      return false
    }
  }

  /// What the expression makes of a value, which stands for itself, without a column's affinity. Throws `constraint`
  /// where it comes to no result.
  package static func value(of expression: String, over name: String, _ value: Value, on connection: Connection) throws
    -> Value
  {
    try withStatement(expression, over: name, on: connection) { statement in
      try statement.bind(value, at: 1)
      return try statement.step() ? statement.value(at: 0) : .null
    }
  }

  private static func withStatement<Result>(
    _ expression: String, over name: String, on connection: Connection, _ body: (Statement) throws -> Result
  ) throws -> Result {
    connection.permitInExpressions(ExpressionLanguage.callable)
    let sql = "SELECT (\(expression)) FROM (SELECT ?1 AS \(SQLName.quoted(name)))"
    return try connection.withStatement(sql, authority: .expression, body)
  }
}
