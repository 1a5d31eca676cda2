import GodwitBase
import GodwitModel
import GodwitCore
import GodwitStorage

/// What a table was, and what was remembered of its rows, when it was stopped (`godwit_former_N`,
/// `godwit_former_N_state`; Specs/table-scope.md, "Stopping"). What others write meanwhile is about those rows, and not
/// about what becomes of them here.
struct FormerRows {
  private let connection: Connection
  private let table: Int
  private let definition: TableDefinition
  private let selectSQL: String

  /// `columns` are those that the rows have; what has been added since is as in old rows.
  private init(_ table: CatalogTable, _ columns: [String], on connection: Connection) {
    self.connection = connection
    self.table = table.id
    definition = table.definition
    let list = table.definition.columns.map { column in
      columns.contains(where: column.name.isSameName)
        ? SQLName.quoted(column.name) : (column.defaultValue ?? .null).literal
    }
    selectSQL = "SELECT \(list.joined(separator: ", ")) FROM \(Self.rows(table.id))"
  }

  private static func rows(_ table: Int) -> String { "godwit_former_\(table)" }
  private static func states(_ table: Int) -> String { "godwit_former_\(table)_state" }

  // MARK: Stopping

  /// Keeps them. Linear in the table.
  static func keep(of table: CatalogTable, on connection: Connection) throws {
    try remove(of: table.id, on: connection)
    let name = SQLName.quoted(table.definition.name)
    try connection.execute(
      """
      CREATE TABLE \(rows(table.id)) AS SELECT \(table.definition.quotedColumnList) FROM \(name) ORDER BY rowid;
      CREATE INDEX \(rows(table.id))_key ON \(rows(table.id)) (\(table.definition.quotedKeyList));
      CREATE TABLE \(states(table.id)) (key BLOB, state BLOB, hidden INTEGER);
      """)
    try RowStates.copy(of: table.id, to: states(table.id), on: connection)
  }

  // MARK: Starting again

  /// Makes the table, which is empty, what it was; nil when that is not remembered.
  static func bringBack(of table: CatalogTable, on connection: Connection) throws -> FormerRows? {
    let there = try columns(of: table.id, on: connection)
    guard !there.isEmpty else { return nil }
    guard there.allSatisfy({ table.definition.number(of: $0) != nil }) else {
      // Migrations have come since, and all start with what they have.
      try remove(of: table.id, on: connection)
      return nil
    }
    let former = FormerRows(table, there, on: connection)
    try connection.execute(
      """
      INSERT INTO \(SQLName.quoted(table.definition.name)) (\(table.definition.quotedColumnList))
        \(former.selectSQL) ORDER BY rowid
      """)
    try RowStates.bringBack(from: states(table.id), on: connection)
    return former
  }

  /// Whether it was stopped by a call, and not by a migration, which everybody runs.
  static func areKept(of table: Int, on connection: Connection) throws -> Bool {
    try !columns(of: table, on: connection).isEmpty
  }

  private static func columns(of table: Int, on connection: Connection) throws -> [String] {
    try connection.withStatement("PRAGMA table_info(\(rows(table)))") { statement in
      var names: [String] = []
      while try statement.step() { names.append(try statement.text(at: 1)) }
      return names
    }
  }

  /// The values beside the key; nil when there was no such row.
  func values(_ key: [Value]) throws -> [Value]? {
    try connection.withStatement("\(selectSQL) WHERE \(definition.keyCondition)") { statement in
      try statement.bind(key)
      guard try statement.step() else { return nil }
      return try (definition.keyCount..<definition.columns.count).map { try statement.value(at: Int32($0)) }
    }
  }

  /// The rows that are not in another table of the same columns, by their keys.
  func missing(from other: String) -> SQL {
    let keys = definition.columns.prefix(definition.keyCount).map { SQLName.quoted($0.name) }
    let same = keys.map { "a.\($0) = f.\($0)" }.joined(separator: " AND ")
    let list = keys.map { "f.\($0)" }.joined(separator: ", ")
    return SQL(
      text:
        "SELECT \(list) FROM \(Self.rows(table)) f WHERE NOT EXISTS (SELECT 1 FROM \(other) a WHERE \(same)) ORDER BY f.rowid"
    )
  }

  // MARK: Removing

  func remove() throws { try Self.remove(of: table, on: connection) }

  static func remove(of table: Int, on connection: Connection) throws {
    try connection.execute("DROP TABLE IF EXISTS \(rows(table)); DROP TABLE IF EXISTS \(states(table))")
  }
}
