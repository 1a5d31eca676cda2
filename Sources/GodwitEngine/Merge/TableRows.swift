import GodwitBase
import GodwitModel
import GodwitCore
import GodwitStorage

/// Reads and writes one synced table's rows by their encoded key.
///
/// SQLite binds at most 999 values to a statement. A collection may have a few columns more: those are written by
/// another statement.
package struct TableRows {
  /// `SQLITE_MAX_VARIABLE_NUMBER` where it is least.
  package static let boundValueLimit = 999

  private let connection: Connection
  let definition: TableDefinition
  private let table: String
  package let selectSQL: String
  private let existsSQL: String
  /// With as many of the columns as can be bound.
  package let insertSQL: String
  private let deleteSQL: String
  /// The sum of the table's rows, when it is kept by what is written here and not by the capture.
  private let tally: TableTally?

  package init(_ definition: TableDefinition, on connection: Connection, tally: TableTally? = nil) {
    self.tally = tally
    self.connection = connection
    self.definition = definition
    table = SQLName.quoted(definition.name)
    let inserted = definition.columns.prefix(Self.boundValueLimit)
    let names = inserted.map { SQLName.quoted($0.name) }.joined(separator: ", ")
    let places = inserted.map { _ in "?" }.joined(separator: ", ")
    selectSQL = "SELECT \(definition.quotedColumnList) FROM \(table) WHERE \(definition.keyCondition)"
    existsSQL = "SELECT 1 FROM \(table) WHERE \(definition.keyCondition)"
    insertSQL = "INSERT OR FAIL INTO \(table) (\(names)) VALUES (\(places))"
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

  /// Whether the table has a unique index beside its key, declared or the program's own.
  func hasUniqueIndex() throws -> Bool {
    try connection.withStatement("PRAGMA index_list(\(table))") { statement in
      while try statement.step() {
        if statement.integer(at: 2) != 0, try statement.text(at: 3) != "pk" { return true }
      }
      return false
    }
  }

  func insert(_ key: ArraySlice<UInt8>, _ values: [Value]) throws {
    let bound = values.prefix(Self.boundValueLimit - definition.keyCount)
    try connection.withStatement(insertSQL) { statement in
      try bind(key, to: statement, from: 1)
      for (index, value) in bound.enumerated() {
        try statement.bind(value, at: Int32(definition.keyCount + index + 1))
      }
      try statement.run()
    }
    if let tally { tally.add(tally.hash.row(key, bound)) }
    try insert(rest: values[bound.endIndex...], of: key)
  }

  /// Inserts a row from its encoded values, key first and none left out.
  func insert(encoded row: UnsafeRawBufferPointer) throws {
    try connection.withStatement(insertSQL) { try insert(encoded: row, by: $0) }
  }

  /// The same by a statement of ``insertSQL``, which keeps its values.
  package func insert(encoded row: UnsafeRawBufferPointer, by statement: Statement) throws {
    guard definition.columns.count > Self.boundValueLimit else {
      try statement.bindBorrowed(encoded: row)
      try statement.run()
      if let tally { tally.add(tally.hash.row(encoded: row)) }
      return
    }
    var reader = ByteReader(Array(row))
    for _ in 0..<definition.keyCount { _ = try reader.encodedValue() }
    let keyByteCount = reader.position
    for _ in definition.keyCount..<Self.boundValueLimit { _ = try reader.encodedValue() }
    let bound = UnsafeRawBufferPointer(rebasing: row[..<reader.position])
    try statement.bindBorrowed(encoded: bound)
    try statement.run()
    if let tally { tally.add(tally.hash.row(encoded: bound)) }
    var rest: [Value] = []
    while !reader.isAtEnd { rest.append(try reader.value()) }
    try insert(rest: rest[...], of: Array(row[..<keyByteCount])[...])
  }

  private func insert(rest values: ArraySlice<Value>, of key: ArraySlice<UInt8>) throws {
    guard !values.isEmpty else { return }
    let first = definition.columns.count - values.count
    try update(key, values.enumerated().map { (column: first + $0.offset, value: $0.element) })
  }

  /// Writes cells by column number; returns whether the row was there.
  ///
  /// - Parameter held: The values beside the key that the table has, when they are known.
  @discardableResult
  func update(
    _ key: ArraySlice<UInt8>, _ cells: [(column: Int, value: Value)], holding held: [Value]? = nil
  ) throws -> Bool {
    let bound = cells.prefix(updateLimit)
    let before = try tally == nil ? nil : held ?? values(key)
    let isThere = try connection.withStatement(updateSQL(bound.map(\.column))) { statement in
      for (index, cell) in bound.enumerated() { try statement.bind(cell.value, at: Int32(index + 1)) }
      try bind(key, to: statement, from: bound.count + 1)
      try statement.run()
      return connection.changes == 1
    }
    if isThere, let tally, let before { add(bound, to: key, before, tally) }
    guard isThere, bound.count < cells.count else { return isThere }
    return try update(key, Array(cells[bound.endIndex...]))
  }

  private func add(
    _ cells: ArraySlice<(column: Int, value: Value)>, to key: ArraySlice<UInt8>, _ before: [Value], _ tally: TableTally
  ) {
    let hashed = tally.hash.key(key)
    for cell in cells {
      let old = before[cell.column - definition.keyCount]
      guard old != cell.value else { continue }
      tally.add(tally.hash.cell(cell.column, hashed, cell.value))
      tally.remove(tally.hash.cell(cell.column, hashed, old))
    }
  }

  /// How many cells one statement can write.
  package var updateLimit: Int { Self.boundValueLimit - definition.keyCount }

  /// Binds the cells, then the key.
  package func updateSQL(_ columns: some Sequence<Int>) -> String {
    let assignments = columns.map { "\(SQLName.quoted(definition.columns[$0].name)) = ?" }.joined(separator: ", ")
    return "UPDATE OR FAIL \(table) SET \(assignments) WHERE \(definition.keyCondition)"
  }

  /// `held` are the values beside the key that the table has, when they are known.
  func delete(_ key: ArraySlice<UInt8>, holding held: [Value]? = nil) throws {
    let before = try tally == nil ? nil : held ?? values(key)
    try connection.withStatement(deleteSQL) { statement in
      try bind(key, to: statement, from: 1)
      try statement.run()
    }
    if let tally, let before { tally.remove(tally.hash.row(key, before)) }
  }

  /// The keys of the rows that hold these values, as encoded.
  func keys(where columns: [Int], are values: [Value]) throws -> [[UInt8]] {
    let condition = columns.map { "\(SQLName.quoted(definition.columns[$0].name)) = ?" }.joined(separator: " AND ")
    return try keys("WHERE \(condition)", values)
  }

  /// The keys of all rows that are not alone with their values in the columns of an index; NULL is equal to nothing.
  func keys(equalIn index: IndexDefinition) throws -> [[UInt8]] {
    let list = index.columns.map(SQLName.quoted).joined(separator: ", ")
    return try keys("WHERE (\(list)) IN (SELECT \(list) FROM \(table) GROUP BY \(list) HAVING count(*) > 1)", [])
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

  /// Makes an index on a column, for as long as one transaction; ``dropIndex(on:)`` takes it away.
  func makeIndex(on column: Int) throws {
    try connection.execute(
      "CREATE INDEX \(indexName(on: column)) ON \(table) (\(SQLName.quoted(definition.columns[column].name)))")
  }

  func dropIndex(on column: Int) throws { try connection.execute("DROP INDEX \(indexName(on: column))") }

  /// No name of a program's begins so.
  private func indexName(on column: Int) -> String { SQLName.quoted("godwit_\(definition.name)_\(column)") }

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
