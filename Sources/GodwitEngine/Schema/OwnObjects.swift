import GodwitBase
import GodwitModel
import GodwitCore
import GodwitStorage

/// Indexes and triggers that the program itself made on a table that is made anew.
struct OwnObjects {
  /// The statements that made them.
  let statements: [String]
  /// How many of the indexes' columns are expressions. What names a column that is gone becomes one: a text.
  let expressionCount: Int

  /// - Parameter declared: The indexes that the table's definition has, in small letters.
  init(on table: String, besides declared: Set<String>, _ connection: Connection) throws {
    let sql = """
      SELECT name, sql FROM sqlite_master WHERE lower(tbl_name) = lower(?) AND type IN ('index', 'trigger')
        AND sql IS NOT NULL AND name NOT LIKE 'godwit\\_%' ESCAPE '\\' ORDER BY rowid
      """
    statements = try connection.withStatement(sql) { statement in
      try statement.bind([.text(table)])
      var texts: [String] = []
      while try statement.step() {
        if try !declared.contains(statement.text(at: 0).lowercased()) { texts.append(try statement.text(at: 1)) }
      }
      return texts
    }
    expressionCount = statements.isEmpty ? 0 : try Self.expressionCount(of: table, connection)
  }

  private static func expressionCount(of table: String, _ connection: Connection) throws -> Int {
    let names = try connection.withStatement("PRAGMA index_list(\(SQLName.quoted(table)))") { statement in
      var names: [String] = []
      while try statement.step() { names.append(try statement.text(at: 1)) }
      return names
    }
    return try names.reduce(0) { count, name in
      try connection.withStatement("PRAGMA index_xinfo(\(SQLName.quoted(name)))") { statement in
        var count = count
        while try statement.step() { if statement.integer(at: 1) == -2 { count += 1 } }
        return count
      }
    }
  }

  /// Throws when one that has been made again on the table does not fit it: SQLite finds that out for a trigger when a
  /// statement fires it.
  func check(on table: TableDefinition, _ connection: Connection) throws {
    guard !statements.isEmpty else { return }
    guard try Self.expressionCount(of: table.name, connection) == expressionCount else {
      throw GodwitError(.sql, "an index names a column that is gone")
    }
    try connection.setTriggers(true)
    defer { try? connection.setTriggers(false) }
    let name = SQLName.quoted(table.name)
    let assignments = table.columns.map { "\(SQLName.quoted($0.name)) = NULL" }.joined(separator: ", ")
    for sql in ["INSERT INTO \(name) DEFAULT VALUES", "UPDATE \(name) SET \(assignments)", "DELETE FROM \(name)"] {
      try connection.withStatement(sql) { _ in }
    }
  }
}
