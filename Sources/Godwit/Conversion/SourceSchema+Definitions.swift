import GodwitBase
import GodwitModel
import GodwitReplication
import GodwitStorage

/// Tables of another program's as definitions (Specs/conversion.md, "Tables").
extension SourceSchema {
  struct SourceColumn {
    let name: String
    let declared: String
    let isNullable: Bool
    let defaultText: String?
    /// Its place in the primary key, from 1; 0 for none.
    let keyPlace: Int
  }

  /// What a definition cannot say of a table.
  struct Obstacle: Error { let reason: String }

  func definition(_ part: Part, _ columns: [SourceColumn]) throws -> (TableDefinition, indexes: [String]) {
    let text = part.sql.uppercased()
    let unsaid = [("CHECK", /\bCHECK\s*\(/), ("COLLATE", /\bCOLLATE\b/), ("ON CONFLICT", /\bON\s+CONFLICT\b/)]
    for (name, pattern) in unsaid {
      if text.contains(pattern) { throw Obstacle(reason: "it has \(name) in its definition") }
    }
    let key = columns.filter { $0.keyPlace > 0 }.sorted { $0.keyPlace < $1.keyPlace }
    guard !key.isEmpty else { throw Obstacle(reason: "it has no primary key") }
    let references = try references(of: part.name)
    let ordered = key + columns.filter { $0.keyPlace == 0 }
    let definitions = try ordered.map { column in
      ColumnDefinition(
        name: column.name, type: try type(of: column, in: part.name), isNullable: column.keyPlace == 0 && column.isNullable,
        defaultValue: try defaultValue(column), reference: references[column.name.lowercased()])
    }
    let condition = key.map { "\(SQLName.quoted($0.name)) IS NULL" }.joined(separator: " OR ")
    let empty = try connection.scalar("SELECT 1 FROM \(SQLName.quoted(part.name)) WHERE \(condition) LIMIT 1")
    guard empty == nil else { throw Obstacle(reason: "it has rows without a key") }
    let (indexes, names) = try indexes(of: part.name)
    let table = try TableDefinition(
      name: part.name, keyCount: key.count, columns: definitions, indexes: indexes, isSynced: false,
      numbersKeys: text.contains(/\bAUTOINCREMENT\b/))
    return (table, names)
  }

  func columns(of table: String) throws -> [SourceColumn] {
    try connection.withStatement("PRAGMA table_info(\(SQLName.quoted(table)))") { statement in
      var columns: [SourceColumn] = []
      while try statement.step() {
        columns.append(
          SourceColumn(
            name: try statement.text(at: 1), declared: try statement.text(at: 2).uppercased(),
            isNullable: statement.integer(at: 3) == 0,
            defaultText: statement.isNull(at: 4) ? nil : try statement.text(at: 4),
            keyPlace: Int(statement.integer(at: 5))))
      }
      return columns
    }
  }

  /// SQLite's rules of affinity (sqlite.org/datatype3.html, 3.1), and the values where these say nothing of them: dates
  /// and decimals are text to one program and numbers to another.
  private func type(of column: SourceColumn, in table: String) throws -> ColumnType {
    let declared = column.declared
    if declared.contains("INT") || declared.hasPrefix("BOOL") { return .integer }
    if ["CHAR", "CLOB", "TEXT"].contains(where: declared.contains) { return .text }
    if declared.contains("BLOB") { return .blob }
    if ["REAL", "FLOA", "DOUB"].contains(where: declared.contains) { return .real }
    guard !declared.isEmpty else { return .any }
    let name = SQLName.quoted(column.name)
    let sql = "SELECT DISTINCT typeof(\(name)) FROM \(SQLName.quoted(table)) WHERE \(name) IS NOT NULL"
    let found = try connection.withStatement(sql) { statement in
      var found: Set<String> = []
      while try statement.step() { found.insert(try statement.text(at: 0)) }
      return found
    }
    switch found {
    case ["integer"]: return .integer
    case ["real"], ["real", "integer"]: return .real
    case ["text"]: return .text
    case ["blob"]: return .blob
    case []: return declared.contains("DATE") || declared.contains("TIME") ? .text : .real
    default: return .any
    }
  }

  private func defaultValue(_ column: SourceColumn) throws -> Value? {
    guard let text = column.defaultText, text.uppercased() != "NULL" else { return nil }
    let literal = /[+-]?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?|'([^']|'')*'|[xX]'[0-9a-fA-F]*'/
    guard text.wholeMatch(of: literal) != nil else { throw Obstacle(reason: "the default of column \(column.name) is computed") }
    return try connection.withStatement("SELECT \(text)", authority: .user) { statement in
      try statement.step() ? statement.value(at: 0) : nil
    }
  }

  private func references(of table: String) throws -> [String: Reference] {
    try connection.withStatement("PRAGMA foreign_key_list(\(SQLName.quoted(table)))") { statement in
      var references: [String: Reference] = [:]
      while try statement.step() {
        let column = try statement.text(at: 3)
        let target = try statement.text(at: 2)
        guard statement.integer(at: 1) == 0, references[column.lowercased()] == nil else {
          throw Obstacle(reason: "a reference to table \(target) is of several columns, or one of several")
        }
        let onDelete: DeleteAction? =
          switch try statement.text(at: 6).uppercased() {
          case "NO ACTION", "RESTRICT": .restrict
          case "CASCADE": .cascade
          case "SET NULL": .setNull
          default: nil
          }
        guard let onDelete, ["NO ACTION", "RESTRICT"].contains(try statement.text(at: 5).uppercased()) else {
          throw Obstacle(reason: "the reference of column \(column) has an action that models do not have")
        }
        let key = try columns(of: target).filter { $0.keyPlace > 0 }.map(\.name)
        let named = statement.isNull(at: 4) ? nil : try statement.text(at: 4)
        guard key.count == 1, named == nil || named?.lowercased() == key.first?.lowercased() else {
          throw Obstacle(reason: "column \(column) does not refer to the primary key of table \(target)")
        }
        references[column.lowercased()] = Reference(table: target, onDelete: onDelete)
      }
      return references
    }
  }

  private func indexes(of table: String) throws -> ([IndexDefinition], names: [String]) {
    let listed = try connection.withStatement("PRAGMA index_list(\(SQLName.quoted(table)))") { statement in
      var listed: [(name: String, isUnique: Bool, origin: String, isPartial: Bool)] = []
      while try statement.step() {
        listed.append(
          (
            try statement.text(at: 1), statement.integer(at: 2) != 0, try statement.text(at: 3),
            statement.integer(at: 4) != 0
          ))
      }
      return listed
    }
    var indexes: [IndexDefinition] = []
    var names: [String] = []
    for index in listed where index.origin != "pk" {
      guard !index.isPartial, let columns = try plainColumns(ofIndex: index.name) else { continue }
      // Two indexes over the same columns would have one name here; the one that is unique says more.
      if let same = indexes.firstIndex(where: { $0.columns == columns }) {
        if index.isUnique { indexes[same] = IndexDefinition(columns: columns, isUnique: true) }
      } else {
        indexes.append(IndexDefinition(columns: columns, isUnique: index.isUnique))
      }
      names.append(index.name)
    }
    return (indexes, names)
  }

  /// The columns, unless one is an expression, falls or has a collation of its own.
  private func plainColumns(ofIndex index: String) throws -> [String]? {
    try connection.withStatement("PRAGMA index_xinfo(\(SQLName.quoted(index)))") { statement in
      var columns: [String] = []
      while try statement.step() {
        guard statement.integer(at: 5) != 0 else { continue }  // what SQLite adds to find the row
        guard statement.integer(at: 1) >= 0, statement.integer(at: 3) == 0,
          try statement.text(at: 4).uppercased() == "BINARY"
        else { return nil }
        columns.append(try statement.text(at: 2))
      }
      return columns
    }
  }
}
