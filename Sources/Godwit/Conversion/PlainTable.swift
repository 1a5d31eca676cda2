import GodwitBase
import GodwitModel
import GodwitCore

/// A table of another program's that no definition can say: made anew of what SQLite says of it, never by its own
/// statement (Specs/conversion.md, "Tables").
struct PlainTable {
  let name: String
  let columns: [ColumnDefinition]
  /// The columns of the primary key.
  let key: [String]
  /// Whether all rows have one; else a unique index among the others has its columns.
  let hasKey: Bool
  let numbersKeys: Bool
  let indexes: [IndexDefinition]

  var creationStatements: [String] {
    var lines = columns.map(sql)
    if hasKey, !numbersKeys, !key.isEmpty {
      lines.append("PRIMARY KEY (\(key.map(SQLName.quoted).joined(separator: ", ")))")
    }
    let table = "CREATE TABLE \(SQLName.quoted(name)) (\n  \(lines.joined(separator: ",\n  "))\n)"
    return [table] + indexes.map { $0.creationStatement(on: name) }
  }

  private func sql(_ column: ColumnDefinition) -> String {
    var sql = SQLName.quoted(column.name)
    if let type = column.type.sql { sql += " \(type)" }
    if !column.isNullable { sql += " NOT NULL" }
    if hasKey, numbersKeys, key == [column.name] { sql += " PRIMARY KEY AUTOINCREMENT" }
    if let value = column.defaultValue { sql += " DEFAULT \(value.literal)" }
    return sql
  }
}
