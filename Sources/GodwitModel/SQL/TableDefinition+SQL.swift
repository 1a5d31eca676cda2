import GodwitBase
import GodwitCore

extension TableDefinition {
  /// The statements that create the table and its indexes where they are missing.
  package var creationStatements: [String] { [creationStatement(as: name)] + indexes.map(creationStatement) }

  /// The statement that creates the table under another name, which it has until the old one is gone.
  package func creationStatement(as name: String) -> String {
    let key = numbersKeys ? [] : ["PRIMARY KEY (\(quotedKeyList))"]
    let foreignKeys = columns.compactMap { column in
      column.referenceSQL.map { "FOREIGN KEY (\(SQLName.quoted(column.name))) \($0)" }
    }
    let lines = columns.map { $0.sql(in: self) } + key + foreignKeys
    return "CREATE TABLE IF NOT EXISTS \(SQLName.quoted(name)) (\n  \(lines.joined(separator: ",\n  "))\n)"
  }

  /// The statement that creates one index.
  package func creationStatement(_ index: IndexDefinition) -> String { index.creationStatement(on: name) }

  /// The statement that adds one column to the table that is there.
  package func additionStatement(_ column: ColumnDefinition) -> String {
    let reference = column.referenceSQL.map { " \($0)" } ?? ""
    return "ALTER TABLE \(SQLName.quoted(name)) ADD COLUMN \(column.sql(in: self))\(reference)"
  }

  package func indexName(_ index: IndexDefinition) -> String { index.name(in: name) }

  package var quotedColumnList: String { columns.map { SQLName.quoted($0.name) }.joined(separator: ", ") }

  /// `"a" = ? AND "b" = ?` over the key columns.
  package var keyCondition: String {
    columns.prefix(keyCount).map { "\(SQLName.quoted($0.name)) = ?" }.joined(separator: " AND ")
  }

  package var quotedKeyList: String {
    columns.prefix(keyCount).map { SQLName.quoted($0.name) }.joined(separator: ", ")
  }
}

extension IndexDefinition {
  /// `index_TABLE_on_COLUMN_and_COLUMN`, as users of Active Record know it; `index_TABLE.COLUMN.COLUMN` where a name
  /// has one of these words, so that no two indexes share a name.
  package func name(in table: String) -> String {
    let names = [table] + columns
    let isPlain = names.allSatisfy { part in
      let part = "_\(part.lowercased())_"
      return !part.contains("_on_") && !part.contains("_and_")
    }
    guard isPlain else { return "index_\(names.joined(separator: "."))" }
    return "index_\(table)_on_\(columns.joined(separator: "_and_"))"
  }

  /// The statement that creates it.
  package func creationStatement(on table: String) -> String {
    let columns = columns.map(SQLName.quoted).joined(separator: ", ")
    let unique = isUnique ? "UNIQUE " : ""
    return
      "CREATE \(unique)INDEX IF NOT EXISTS \(SQLName.quoted(name(in: table))) ON \(SQLName.quoted(table)) (\(columns))"
  }
}

extension ColumnDefinition {
  fileprivate func sql(in table: TableDefinition) -> String {
    var sql = SQLName.quoted(name)
    if let typeName = type.sql { sql += " \(typeName)" }
    if !isNullable { sql += " NOT NULL" }
    if table.numbersKeys, name == table.columns[0].name { sql += " PRIMARY KEY AUTOINCREMENT" }
    if let defaultValue { sql += " DEFAULT \(defaultValue.literal)" }
    let checks = [check, mergeCheck].compactMap { $0 }.map { "(\($0))" }
    // The name is what a violation is reported under.
    if !checks.isEmpty {
      sql += " CONSTRAINT \(SQLName.quoted("\(table.name).\(name)")) CHECK (\(checks.joined(separator: " AND ")))"
    }
    return sql
  }

  /// What a value must be for its merge to make sense.
  private var mergeCheck: String? {
    switch merge {
    case .counter: "typeof(\(SQLName.quoted(name))) = 'integer'"
    case .addWinsSet: "\(SetCheck.name)(\(SQLName.quoted(name)))"
    case .lastWriterWins, .maximum, .minimum, .custom: nil
    }
  }

  /// Deferred, so that rows may come in any order within a transaction and no insert pays for a statement journal.
  fileprivate var referenceSQL: String? {
    guard let reference else { return nil }
    let action =
      switch reference.onDelete {
      case .restrict: "RESTRICT"
      case .cascade: "CASCADE"
      case .setNull: "SET NULL"
      }
    return "REFERENCES \(SQLName.quoted(reference.table)) ON DELETE \(action) DEFERRABLE INITIALLY DEFERRED"
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
  package var literal: String {
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
