import GodwitBase
import GodwitStorage

/// Writes models through one connection for the length of a transaction. It holds on to each model's insert
/// statement, so that a loop of inserts looks nothing up.
package final class ModelWriter {
  private let connection: Connection
  /// Tables whose own triggers make a failing statement more than one row's work; they get plain statements.
  private let tablesWithTriggers: Set<String>
  private var inserts: [ObjectIdentifier: Statement] = [:]

  package init(_ connection: Connection, tablesWithTriggers: Set<String>) {
    self.connection = connection
    self.tablesWithTriggers = tablesWithTriggers
  }

  /// Gives the statements back; the writer may be used again.
  package func finish() {
    for statement in inserts.values { connection.giveBack(statement) }
    inserts.removeAll()
  }

  /// Inserts the model. Throws `constraint` when its key or a unique value is taken.
  package func insert<Root: Model>(_ model: Root) throws {
    let statement = try insertStatement(Root.self)
    let columns = Root.schema.columns
    try withUnsafeBytes(of: model) { bytes in
      guard let start = bytes.baseAddress else { return }
      for index in columns.indices {
        let target = ColumnBinderTarget(statement, Int32(truncatingIfNeeded: index + 1))
        try columns[index].access.bind(start, target)
      }
    }
    try statement.run()
  }

  /// Writes the columns whose values differ from the stored ones; returns whether there were any.
  /// Throws `notFound` when no row has the key.
  package func update<Root: Model>(_ model: Root) throws -> Bool {
    let values = try Self.values(model)
    guard let stored = try storedValues(Root.self, key: values[0]) else {
      throw GodwitError(
        .notFound, "table \(Root.schema.table) has no row with this key", hint: "use save to insert it when it is new")
    }
    return try write(Root.self, values, replacing: stored)
  }

  /// Inserts the model when its key is new, else updates it; returns whether anything was written.
  package func save<Root: Model>(_ model: Root) throws -> Bool {
    let values = try Self.values(model)
    guard let stored = try storedValues(Root.self, key: values[0]) else {
      try insert(model)
      return true
    }
    return try write(Root.self, values, replacing: stored)
  }

  /// Deletes the row with this key; returns whether there was one.
  package func delete<Root: Model>(_ type: Root.Type, key: Root.ID) throws -> Bool {
    try connection.withStatement(Root.schema.statements.deleteByKey) { statement in
      try key.bind(to: ColumnBinder(ColumnBinderTarget(statement, 1)))
      try statement.run()
    }
    return connection.changes > 0
  }

  private func insertStatement<Root: Model>(_ type: Root.Type) throws -> Statement {
    if let statement = inserts[ObjectIdentifier(type)] { return statement }
    let statements = Root.schema.statements
    let statement = try connection.borrow(canFail(Root.self) ? statements.insertOrFail : statements.insert)
    inserts[ObjectIdentifier(type)] = statement
    return statement
  }

  private func canFail<Root: Model>(_ type: Root.Type) -> Bool {
    !tablesWithTriggers.contains(Root.schema.table.lowercased())
  }

  private func write<Root: Model>(_ type: Root.Type, _ values: [Value], replacing stored: [Value]) throws -> Bool {
    let changed = values.indices.filter { values[$0] != stored[$0] }
    guard !changed.isEmpty else { return false }
    let sql = Root.schema.statements.update(columns: changed, orFail: canFail(Root.self))
    try connection.run(sql, changed.map { values[$0] } + [values[0]])
    return true
  }

  private func storedValues<Root: Model>(_ type: Root.Type, key: Value) throws -> [Value]? {
    try connection.withStatement(Root.schema.statements.selectByKey) { statement in
      try statement.bind([key])
      guard try statement.step() else { return nil }
      return try (0..<Root.schema.columns.count).map { try statement.value(at: Int32($0)) }
    }
  }

  private static func values<Root: Model>(_ model: Root) throws -> [Value] {
    try withUnsafeBytes(of: model) { bytes in
      guard let start = bytes.baseAddress else { return [] }
      return try Root.schema.columns.map { try $0.access.storedValue(start) }
    }
  }
}
