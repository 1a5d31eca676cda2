import GodwitBase
import GodwitReplication

extension TableDefinition {
  /// The statements that create the table and its indexes where they are missing.
  package var creationStatements: [String] {
    let keys = columns.prefix(keyCount).map { SQLName.quoted($0.name) }.joined(separator: ", ")
    let lines = columns.map(\.sql) + ["PRIMARY KEY (\(keys))"] + columns.compactMap(\.foreignKeySQL)
    return ["CREATE TABLE IF NOT EXISTS \(SQLName.quoted(name)) (\n  \(lines.joined(separator: ",\n  "))\n)"]
      + indexes.map { index in
        let columns = index.columns.map(SQLName.quoted).joined(separator: ", ")
        let unique = index.isUnique ? "UNIQUE " : ""
        return
          "CREATE \(unique)INDEX IF NOT EXISTS \(SQLName.quoted(indexName(index))) ON \(SQLName.quoted(name)) (\(columns))"
      }
  }

  /// `index_TABLE_on_COLUMN_and_COLUMN`, as users of Active Record know it.
  package func indexName(_ index: IndexDefinition) -> String {
    "index_\(name)_on_\(index.columns.joined(separator: "_and_"))"
  }

  package var quotedColumnList: String { columns.map { SQLName.quoted($0.name) }.joined(separator: ", ") }

  /// `"a" = ? AND "b" = ?` over the key columns.
  package var keyCondition: String {
    columns.prefix(keyCount).map { "\(SQLName.quoted($0.name)) = ?" }.joined(separator: " AND ")
  }

  package var quotedKeyList: String {
    columns.prefix(keyCount).map { SQLName.quoted($0.name) }.joined(separator: ", ")
  }
}

extension ColumnDefinition {
  fileprivate var sql: String {
    var sql = SQLName.quoted(name)
    if let typeName = type.sql { sql += " \(typeName)" }
    if !isNullable { sql += " NOT NULL" }
    if let defaultValue { sql += " DEFAULT \(defaultValue.literal)" }
    return sql
  }

  /// Deferred, so that rows may come in any order within a transaction and no insert pays for a statement journal.
  fileprivate var foreignKeySQL: String? {
    guard let reference else { return nil }
    let action =
      switch reference.onDelete {
      case .restrict: "RESTRICT"
      case .cascade: "CASCADE"
      case .setNull: "SET NULL"
      }
    return "FOREIGN KEY (\(SQLName.quoted(name))) REFERENCES \(SQLName.quoted(reference.table)) "
      + "ON DELETE \(action) DEFERRABLE INITIALLY DEFERRED"
  }
}

extension ColumnType {
  /// The declared type; none for a column without affinity.
  package var sql: String? {
    switch self {
    case .integer: "INTEGER"
    case .real: "REAL"
    case .text: "TEXT"
    case .blob: "BLOB"
    case .any: nil
    }
  }
}

extension Value {
  /// The value as a SQL literal, for DEFAULT clauses.
  fileprivate var literal: String {
    switch self {
    case .null: "NULL"
    case .integer(let number): number == .min ? "(-9223372036854775807 - 1)" : String(number)
    case .real(let number) where number.isInfinite: number < 0 ? "-9e999" : "9e999"
    case .real(let number): String(number)
    case .text(let text): text.enclosed(in: "'")
    case .blob(let bytes): "x'\(Hexadecimal.encode(bytes))'"
    }
  }
}
