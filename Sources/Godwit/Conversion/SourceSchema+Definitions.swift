import GodwitBase
import GodwitModel
import GodwitCore
import GodwitStorage

/// Tables of another program's as definitions (Specs/conversion.md, "Tables").
extension SourceSchema {
  struct SourceColumn {
    let name: String
    let declared: String
    let isNullable: Bool
    /// Its default, of which nothing is computed.
    let defaultValue: Value?
    let hasComputedDefault: Bool
    /// Its place in the primary key, from 1; 0 for none.
    let keyPlace: Int
  }

  /// What a definition cannot say of a table.
  struct Obstacle: Error { let reason: String }

  /// What a table's statement says and nothing here does, beside indexes.
  static func leftOut(of words: SQLWords, _ columns: [SourceColumn]) -> [String] {
    var clauses: [String] = []
    if words.contains("CHECK") { clauses.append("CHECK") }
    if words.contains("ON", "CONFLICT") { clauses.append("ON CONFLICT") }
    if words.contains("AS") { clauses.append("a generated column") }
    return clauses + columns.filter(\.hasComputedDefault).map { "the computed default of column \($0.name)" }
  }

  func definition(of table: Table) throws -> TableDefinition {
    // Which keys are equal, and what refers to what, may hang on it.
    if table.words.contains("COLLATE") { throw Obstacle(reason: "it has COLLATE in its definition") }
    let key = table.key
    guard !key.isEmpty else { throw Obstacle(reason: "it has no primary key") }
    let references = try references(of: table.name)
    let ordered = key + table.columns.filter { $0.keyPlace == 0 }
    let definitions = try ordered.map { column in
      let type = try type(of: column, in: table)
      return ColumnDefinition(
        name: column.name, type: type, isNullable: column.keyPlace == 0 && column.isNullable,
        defaultValue: column.defaultValue?.stored(as: type, isKey: column.keyPlace > 0),
        reference: references[column.name.lowercased()])
    }
    guard table.hasKey else { throw Obstacle(reason: "it has rows without a key") }
    return try TableDefinition(
      name: table.name, keyCount: key.count, columns: definitions, indexes: table.indexes, isSynced: false,
      numbersKeys: table.numbersKeys)
  }

  /// What a table becomes that has no definition.
  func plain(_ table: Table) throws -> PlainTable {
    PlainTable(
      name: table.name,
      columns: try table.columns.map { column in
        let type = try type(of: column, in: table)
        return ColumnDefinition(
          name: column.name, type: type, isNullable: column.isNullable,
          defaultValue: column.defaultValue?.stored(as: type, isKey: false))
      }, key: table.key.map(\.name), hasKey: table.hasKey, numbersKeys: table.numbersKeys, indexes: table.indexes)
  }

  /// Whether no row of the table lacks a key.
  func allHaveKeys(_ table: Table) throws -> Bool {
    try !table.key.isEmpty && source.hasValues(in: table.key.map(\.name), of: table.name)
  }

  func columns(of table: String) throws -> [SourceColumn] {
    try source.rows("PRAGMA table_info(\(SQLName.quoted(table)))").map { row in
      let text = row.isNull(at: 4) || ASCIICase.upper(row.text(at: 4)) == "NULL" ? nil : row.text(at: 4)
      let value = try text.flatMap {
        Self.isLiteral($0) ? try source.rows("SELECT \($0)", authority: .user).first?.first : nil
      }
      return SourceColumn(
        name: row.text(at: 1), declared: ASCIICase.upper(row.text(at: 2)), isNullable: row.integer(at: 3) == 0,
        defaultValue: value,
        hasComputedDefault: text != nil && value == nil, keyPlace: Int(row.integer(at: 5)))
    }
  }

  /// Whether it is a number, a text or a blob as SQL writes them, and nothing beside. It goes by bytes, as SQLite does.
  static func isLiteral(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    if bytes.first == UInt8(ascii: "'") { return isQuoted(bytes[...]) }
    if let first = bytes.first, first | 0x20 == UInt8(ascii: "x") {
      return isQuoted(bytes.dropFirst()) && bytes.dropFirst(2).dropLast().allSatisfy(isHexadecimal)
    }
    return bytes.count <= 64
      && text.wholeMatch(of: /[+-]?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?/.matchingSemantics(.unicodeScalar)) != nil
  }

  private static func isHexadecimal(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
      || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20)
  }

  /// Whether a quote begins and ends it, and each between is doubled.
  private static func isQuoted(_ bytes: ArraySlice<UInt8>) -> Bool {
    let quote = UInt8(ascii: "'")
    guard bytes.count >= 2, bytes.first == quote, bytes.last == quote else { return false }
    var isOpen = false
    for byte in bytes.dropFirst().dropLast() {
      if byte == quote { isOpen.toggle() } else if isOpen { return false }
    }
    return !isOpen
  }

  /// SQLite's rules of affinity (sqlite.org/datatype3.html, 3.1), and the values where these say nothing of them: dates
  /// and decimals are text to one program and numbers to another.
  private func type(of column: SourceColumn, in table: Table) throws -> ColumnType {
    let declared = column.declared
    let isText = ["CHAR", "CLOB", "TEXT"].contains(where: declared.contains)
    // SQLite has no name for truth; where nothing else is said, programs store it as integers.
    let isTruth = declared.hasPrefix("BOOL") && !isText && !declared.contains("BLOB")
    if declared.contains("INT") || isTruth {
      // A key of one integer column is SQLite's number of the row, which holds nothing else.
      guard column.keyPlace > 0, table.key.count == 1 else { return .integer }
      return try classes(of: column, in: table).isSubset(of: ["integer"]) ? .integer : .any
    }
    if isText { return .text }
    if declared.contains("BLOB") { return .blob }
    if ["REAL", "FLOA", "DOUB"].contains(where: declared.contains) { return .real }
    guard !declared.isEmpty else { return .any }
    switch try classes(of: column, in: table) {
    case ["integer"]: return .integer
    case ["real"]: return .real
    case ["real", "integer"]: return try hasInexactIntegers(column, in: table) ? .any : .real
    case ["text"]: return .text
    case ["blob"]: return .blob
    case []: return declared.contains("DATE") || declared.contains("TIME") ? .text : .real
    default: return .any
    }
  }

  /// The storage classes of its values.
  func classes(of column: SourceColumn, in table: Table) throws -> Set<String> {
    let name = SQLName.quoted(column.name)
    let sql = "SELECT DISTINCT typeof(\(name)) FROM \(SQLName.quoted(table.name)) WHERE \(name) IS NOT NULL"
    return Set(try source.rows(sql).map { $0.text(at: 0) })
  }

  /// Whether some integer is beyond 2⁵³, where reals leave numbers out.
  private func hasInexactIntegers(_ column: SourceColumn, in table: Table) throws -> Bool {
    let name = SQLName.quoted(column.name)
    let sql = """
      SELECT 1 FROM \(SQLName.quoted(table.name)) WHERE typeof(\(name)) = 'integer'
        AND \(name) NOT BETWEEN -9007199254740992 AND 9007199254740992 LIMIT 1
      """
    return try !source.rows(sql).isEmpty
  }

  private func references(of table: String) throws -> [String: Reference] {
    var references: [String: Reference] = [:]
    for row in try source.rows("PRAGMA foreign_key_list(\(SQLName.quoted(table)))") {
      let column = row.text(at: 3)
      let target = row.text(at: 2)
      guard row.integer(at: 1) == 0, references[column.lowercased()] == nil else {
        throw Obstacle(reason: "a reference to table \(target) is of several columns, or one of several")
      }
      let onDelete: DeleteAction? =
        switch row.text(at: 6).uppercased() {
        case "NO ACTION", "RESTRICT": .restrict
        case "CASCADE": .cascade
        case "SET NULL": .setNull
        default: nil
        }
      guard let onDelete, ["NO ACTION", "RESTRICT"].contains(row.text(at: 5).uppercased()) else {
        throw Obstacle(reason: "the reference of column \(column) has an action that models do not have")
      }
      let key = try columns(of: target).filter { $0.keyPlace > 0 }.map(\.name)
      let named = row.isNull(at: 4) ? nil : row.text(at: 4)
      guard key.count == 1, named == nil || named?.lowercased() == key.first?.lowercased() else {
        throw Obstacle(reason: "column \(column) does not refer to the primary key of table \(target)")
      }
      references[column.lowercased()] = Reference(table: target, onDelete: onDelete)
    }
    return references
  }

  /// What the indexes of a table become here.
  struct Indexes {
    /// Those of plain columns.
    private(set) var plain: [IndexDefinition] = []
    private var places: [[String]: Int] = [:]
    /// Their names there.
    var names: [String] = []
    /// The columns of UNIQUE constraints that are of more than plain columns; indexes of a statement of their own are
    /// left out with it.
    var lost: [String] = []
  }

  func indexes(of table: String) throws -> Indexes {
    let listed = try source.rows("PRAGMA index_list(\(SQLName.quoted(table)))").map { row in
      (
        name: row.text(at: 1), isUnique: row.integer(at: 2) != 0, origin: row.text(at: 3),
        isPartial: row.integer(at: 4) != 0
      )
    }
    var indexes = Indexes()
    for index in listed where index.origin != "pk" {
      let (columns, isPlain) = try columns(ofIndex: index.name)
      guard isPlain, !index.isPartial else {
        if index.origin == "u" { indexes.lost.append("UNIQUE (\(columns.joined(separator: ", ")))") }
        continue
      }
      indexes.add(IndexDefinition(columns: columns, isUnique: index.isUnique))
      indexes.names.append(index.name)
    }
    return indexes
  }

  /// The columns, and whether none is an expression, falls or has a collation of its own.
  private func columns(ofIndex index: String) throws -> (names: [String], isPlain: Bool) {
    var columns: [String] = []
    var isPlain = true
    for row in try source.rows("PRAGMA index_xinfo(\(SQLName.quoted(index)))") where row.integer(at: 5) != 0 {
      // What SQLite adds to find the row is not among these.
      if row.integer(at: 1) < 0 || row.integer(at: 3) != 0 || ASCIICase.upper(row.text(at: 4)) != "BINARY" {
        isPlain = false
      }
      columns.append(row.text(at: 2))
    }
    return (columns, isPlain)
  }
}

extension SourceSchema.Indexes {
  /// Two indexes over the same columns would have one name here; the one that is unique says more.
  mutating func add(_ index: IndexDefinition) {
    guard let same = places[index.columns] else {
      places[index.columns] = plain.count
      return plain.append(index)
    }
    if index.isUnique { plain[same] = index }
  }
}

extension SourceSchema.Table {
  /// The columns of its primary key, in its order.
  var key: [SourceSchema.SourceColumn] { columns.filter { $0.keyPlace > 0 }.sorted { $0.keyPlace < $1.keyPlace } }

  var numbersKeys: Bool { key.count == 1 && words.contains("AUTOINCREMENT") }
}
