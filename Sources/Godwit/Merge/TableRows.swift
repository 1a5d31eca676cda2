import GodwitBase
import GodwitModel
import GodwitReplication
import GodwitStorage

/// Reads and writes one synced table's rows by their encoded key while changes are applied.
struct TableRows {
  private let connection: Connection
  let definition: TableDefinition
  /// Columns of unique indexes, by number.
  let uniqueColumns: Set<Int>
  private let selectSQL: String
  private let insertSQL: String
  private let deleteSQL: String
  private let updateStart: String

  init(_ definition: TableDefinition, on connection: Connection) {
    self.connection = connection
    self.definition = definition
    let unique = Set(definition.indexes.filter(\.isUnique).flatMap(\.columns).map { $0.lowercased() })
    uniqueColumns = Set(definition.columns.indices.filter { unique.contains(definition.columns[$0].name.lowercased()) })
    let table = SQLName.quoted(definition.name)
    let places = definition.columns.map { _ in "?" }.joined(separator: ", ")
    selectSQL = "SELECT \(definition.quotedColumnList) FROM \(table) WHERE \(definition.keyCondition)"
    insertSQL = "INSERT OR FAIL INTO \(table) (\(definition.quotedColumnList)) VALUES (\(places))"
    deleteSQL = "DELETE FROM \(table) WHERE \(definition.keyCondition)"
    updateStart = "UPDATE OR FAIL \(table) SET "
  }

  /// The values beside the key, or nil when there is no such row.
  func values(_ key: ArraySlice<UInt8>) throws -> [Value]? {
    try connection.withStatement(selectSQL) { statement in
      try bind(key, to: statement, from: 1)
      guard try statement.step() else { return nil }
      return try (definition.keyCount..<definition.columns.count).map { try statement.value(at: Int32($0)) }
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

  /// Writes cells by column number.
  func update(_ key: ArraySlice<UInt8>, _ cells: [Int: Value]) throws {
    let sorted = cells.sorted { $0.key < $1.key }
    let assignments = sorted.map { "\(SQLName.quoted(definition.columns[$0.key].name)) = ?" }
    let sql = "\(updateStart)\(assignments.joined(separator: ", ")) WHERE \(definition.keyCondition)"
    try connection.withStatement(sql) { statement in
      for (index, cell) in sorted.enumerated() { try statement.bind(cell.value, at: Int32(index + 1)) }
      try bind(key, to: statement, from: sorted.count + 1)
      try statement.run()
    }
  }

  func delete(_ key: ArraySlice<UInt8>) throws {
    try connection.withStatement(deleteSQL) { statement in
      try bind(key, to: statement, from: 1)
      try statement.run()
    }
  }

  private func bind(_ key: ArraySlice<UInt8>, to statement: Statement, from first: Int) throws {
    var reader = ByteReader(key)
    for index in 0..<definition.keyCount { try statement.bind(try reader.value(), at: Int32(first + index)) }
  }
}
