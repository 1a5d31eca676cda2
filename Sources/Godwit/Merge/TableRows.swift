import GodwitBase
import GodwitModel
import GodwitReplication
import GodwitStorage

/// Reads and writes one synced table's rows by their encoded key while changes are applied.
struct TableRows {
  private let connection: Connection
  let definition: TableDefinition
  private let table: String
  private let selectSQL: String
  private let existsSQL: String
  private let insertSQL: String
  private let deleteSQL: String

  init(_ definition: TableDefinition, on connection: Connection) {
    self.connection = connection
    self.definition = definition
    table = SQLName.quoted(definition.name)
    let places = definition.columns.map { _ in "?" }.joined(separator: ", ")
    selectSQL = "SELECT \(definition.quotedColumnList) FROM \(table) WHERE \(definition.keyCondition)"
    existsSQL = "SELECT 1 FROM \(table) WHERE \(definition.keyCondition)"
    insertSQL = "INSERT OR FAIL INTO \(table) (\(definition.quotedColumnList)) VALUES (\(places))"
    deleteSQL = "DELETE FROM \(table) WHERE \(definition.keyCondition)"
  }

  /// The values beside the key, or nil when there is no such row.
  func values(_ key: ArraySlice<UInt8>) throws -> [Value]? {
    try connection.withStatement(selectSQL) { statement in
      try bind(key, to: statement, from: 1)
      guard try statement.step() else { return nil }
      return try (definition.keyCount..<definition.columns.count).map { try statement.value(at: Int32($0)) }
    }
  }

  func contains(_ key: ArraySlice<UInt8>) throws -> Bool {
    try connection.withStatement(existsSQL) { statement in
      try bind(key, to: statement, from: 1)
      return try statement.step()
    }
  }

  func insert(_ key: ArraySlice<UInt8>, _ values: [Value]) throws {
    try connection.withStatement(insertSQL) { statement in
      try bind(key, to: statement, from: 1)
      for (index, value) in values.enumerated() {
        try statement.bind(value, at: Int32(definition.keyCount + index + 1))
      }
      try statement.run()
    }
  }

  /// Inserts a row from its encoded values, key first and none left out.
  func insert(encoded row: UnsafeRawBufferPointer) throws {
    try connection.withStatement(insertSQL) { statement in
      try statement.bindBorrowed(encoded: row)
      try statement.run()
    }
  }

  /// Writes cells by column number; returns whether the row was there.
  @discardableResult
  func update(_ key: ArraySlice<UInt8>, _ cells: [(column: Int, value: Value)]) throws -> Bool {
    try connection.withStatement(updateStatement(cells.map(\.column))) { statement in
      for (index, cell) in cells.enumerated() { try statement.bind(cell.value, at: Int32(index + 1)) }
      try bind(key, to: statement, from: cells.count + 1)
      try statement.run()
      return connection.changes == 1
    }
  }

  private func updateStatement(_ columns: [Int]) -> String {
    let assignments = columns.map { "\(SQLName.quoted(definition.columns[$0].name)) = ?" }.joined(separator: ", ")
    return "UPDATE OR FAIL \(table) SET \(assignments) WHERE \(definition.keyCondition)"
  }

  func delete(_ key: ArraySlice<UInt8>) throws {
    try connection.withStatement(deleteSQL) { statement in
      try bind(key, to: statement, from: 1)
      try statement.run()
    }
  }

  /// The keys of the rows that hold these values, as encoded.
  func keys(where columns: [Int], are values: [Value]) throws -> [[UInt8]] {
    let condition = columns.map { "\(SQLName.quoted(definition.columns[$0].name)) = ?" }.joined(separator: " AND ")
    return try keys("WHERE \(condition)", values)
  }

  /// The keys and one other column's value of all rows where that is not NULL.
  func forEachKey(andColumn column: Int, _ body: ([UInt8], Value) throws -> Void) throws {
    let name = SQLName.quoted(definition.columns[column].name)
    let sql = "SELECT \(definition.quotedKeyList), \(name) FROM \(table) WHERE \(name) IS NOT NULL"
    try connection.withStatement(sql) { statement in
      while try statement.step() {
        try body(try key(statement), try statement.value(at: Int32(definition.keyCount)))
      }
    }
  }

  private func keys(_ condition: String, _ values: [Value]) throws -> [[UInt8]] {
    try connection.withStatement("SELECT \(definition.quotedKeyList) FROM \(table) \(condition)") { statement in
      try statement.bind(values)
      var found: [[UInt8]] = []
      while try statement.step() { found.append(try key(statement)) }
      return found
    }
  }

  private func key(_ statement: Statement) throws -> [UInt8] {
    var writer = ByteWriter(capacity: 24)
    for column in 0..<definition.keyCount { writer.value(try statement.value(at: Int32(column))) }
    return writer.bytes
  }

  private func bind(_ key: ArraySlice<UInt8>, to statement: Statement, from first: Int) throws {
    var reader = ByteReader(key)
    for index in 0..<definition.keyCount { try statement.bind(try reader.value(), at: Int32(first + index)) }
  }
}
