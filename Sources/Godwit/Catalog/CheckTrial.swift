import GodwitBase
import GodwitModel
import GodwitReplication
import GodwitStorage

/// Compiles a column's check before a table has it. The text is the program's or another replica's, so it has no more
/// authority than user SQL: none of Godwit's functions, no subquery, no other column.
enum CheckTrial {
  static func run(_ column: ColumnDefinition, of table: TableDefinition, on connection: Connection) throws {
    guard column.check != nil else { return }
    do {
      _ = try connection.borrow(table.trialStatement(column), authority: .user)
    } catch let error as GodwitError {
      throw GodwitError(
        .invalidSchema, "the check of column \(column.name) of table \(table.name) does not compile",
        hint: "write SQL over the column's own name", underlying: error)
    }
  }

  /// Whether the column's default, which old rows will have, passes its check.
  static func passesDefault(_ column: ColumnDefinition, on connection: Connection) throws -> Bool {
    guard let check = column.check else { return true }
    let value = column.defaultValue?.literal ?? "NULL"
    let sql = "SELECT NOT (\(check)) FROM (SELECT \(value) AS \(SQLName.quoted(column.name)))"
    return try connection.withStatement(sql, authority: .user) { statement in
      try statement.step() ? statement.value(at: 0) != .integer(1) : true
    }
  }
}
