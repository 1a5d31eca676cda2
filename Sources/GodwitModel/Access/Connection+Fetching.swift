import GodwitBase
import GodwitStorage

extension Connection {
  /// The statement's rows as models. Linear in the rows found.
  package func models<Root: Model>(_ sql: SQL) throws -> [Root] {
    try withStatement(sql.text) { statement in
      try statement.bind(sql.values)
      return try Self.models(statement)
    }
  }

  /// Calls the body at each of the statement's rows.
  func forEach(_ sql: SQL, _ body: (Statement) throws -> Void) throws {
    try withStatement(sql.text) { statement in
      try statement.bind(sql.values)
      while try statement.step() { try body(statement) }
    }
  }

  /// The only number of the only row.
  func count(_ sql: SQL) throws -> Int {
    guard case .integer(let number)? = try scalar(sql.text, sql.values) else { return 0 }
    return Int(number)
  }

  /// The model with this key, or nil.
  package func fetch<Root: Model>(_ type: Root.Type, key: Root.ID) throws -> Root? {
    let layout = Root.schema.layout
    return try withStatement(layout.selectByKey) { statement in
      try key.bind(to: statement, columns: layout.keyCount)
      return try statement.step() ? layout.model(statement) : nil
    }
  }

  /// The rows of a raw query of the user's.
  package func rows(_ sql: SQL) throws -> [Row] { try readOnly(sql, Self.rows) }

  /// Lends the statement of a raw query of the user's, which may not write.
  func readOnly<Output>(_ sql: SQL, _ body: (Statement) throws -> Output) throws -> Output {
    let statement = try borrowReadOnly(sql)
    defer { giveBack(statement) }
    return try body(statement)
  }

  /// The same for who gives it back: its values are bound.
  package func borrowReadOnly(_ sql: SQL) throws -> Statement {
    if let failure = sql.failure { throw failure }
    let statement = try borrow(sql.text, authority: .user)
    do {
      guard statement.isReadOnly else {
        throw GodwitError(.notAuthorized, "this statement writes", hint: "use execute in a write transaction")
      }
      try statement.bind(sql.values)
      return statement
    } catch {
      giveBack(statement)
      throw error
    }
  }

  /// Each row is read into its place over a copy of `init()`, so properties without a column keep their defaults
  /// and no string is copied on its way.
  private static func models<Root: Model>(_ statement: Statement) throws -> [Root] {
    let layout = Root.schema.layout
    let prototype = Root()
    let buffer = ModelBuffer<Root>()
    while try statement.step() {
      try layout.read(statement, into: UnsafeMutableRawPointer(try buffer.append(prototype)))
    }
    return buffer.take()
  }

  private static func rows(_ statement: Statement) throws -> [Row] {
    guard try statement.step() else { return [] }
    let columns = statement.columnNames
    var rows: [Row] = []
    repeat { rows.append(try statement.row(columns)) } while try statement.step()
    return rows
  }
}

extension Statement {
  /// The row that it stands at, of these columns.
  func row(_ columns: [String]) throws -> Row {
    Row(columns: columns, values: try columns.indices.map { try value(at: Int32($0)) })
  }
}
