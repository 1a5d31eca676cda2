import GodwitBase
import GodwitModel
import GodwitStorage

/// A write transaction: everything done through it is committed together, travels together and is seen together.
///
/// It is handed to a synchronous closure on the writer's own thread and serves only inside it.
public final class Transaction: Snapshot {
  private let writer: ReplicaWriter
  private let models: ModelWriter

  init(_ writer: ReplicaWriter, models: ModelWriter) {
    self.writer = writer
    self.models = models
    super.init(writer.connection)
  }

  /// Inserts a row.
  ///
  /// - Returns: The model as it is stored, with the number and the timestamps that its schema asks for.
  /// - Throws: `constraint` when the key or a unique value is taken or a check fails, `valueNotStorable` for NaN.
  @discardableResult
  public func insert<Root: Model>(_ model: consuming Root) throws -> Root {
    try checkIsOpen()
    return try models.insert(model)
  }

  /// Inserts rows.
  ///
  /// - Returns: The models as they are stored, in the same order.
  @discardableResult
  public func insert<Root: Model>(_ all: [Root]) throws -> [Root] {
    try checkIsOpen()
    guard !Root.schema.layout.fillsIn else { return try all.map { try models.insert($0) } }
    try models.insertUnchanged(all)
    return all
  }

  /// Writes the columns that differ from the stored row, and only those.
  ///
  /// A schema's timestamps are not the program's to write: `created` stays, `updated` follows any other change.
  ///
  /// - Returns: Whether any differed.
  /// - Throws: `notFound` when no row has the key, `constraint` when a unique value is taken or a check fails.
  @discardableResult
  public func update<Root: Model>(_ model: Root) throws -> Bool {
    try checkIsOpen()
    return try models.update(model)
  }

  /// Inserts the row when its key is new, else updates the columns that differ.
  ///
  /// - Returns: The model as it is stored, with the number and the timestamps that its schema asks for.
  /// - Throws: `constraint` when a unique value is taken or a check fails, `valueNotStorable` for NaN.
  @discardableResult
  public func save<Root: Model>(_ model: consuming Root) throws -> Root {
    try checkIsOpen()
    return try models.save(model)
  }

  /// Deletes the row.
  ///
  /// - Returns: Whether there was one.
  @discardableResult
  public func delete<Root: Model>(_ model: Root) throws -> Bool { try delete(Root.self, key: model.id) }

  /// Deletes the row with this key.
  ///
  /// - Returns: Whether there was one.
  @discardableResult
  public func delete<Root: Model>(_ type: Root.Type, key: Root.ID) throws -> Bool {
    try checkIsOpen()
    return try models.delete(type, key: key)
  }

  /// Drops the table of a model that is `.local`, with its rows. The replica makes it again when it is next opened
  /// with the model.
  ///
  /// - Throws: `notAuthorized` for a synced table, which other replicas go on writing to; `notInSchema` when there
  ///   is no such table.
  public func drop<Root: Model>(_ type: Root.Type) throws {
    try checkIsOpen()
    try models.endRun()
    try writer.drop(Root.schema.table)
  }

  /// Runs one statement in SQL. Its effect on synced tables is captured like any other write.
  ///
  /// A statement that fails leaves nothing behind, `OR FAIL` included.
  ///
  /// - Returns: The rows changed by the statement itself.
  /// - Throws: `notAuthorized` for transactions, settings and Godwit's own tables; `sql`, `constraint`.
  @discardableResult
  public func execute(_ sql: SQL) throws -> Int {
    try checkIsOpen()
    if let failure = sql.failure { throw failure }
    try models.endRun()
    let mayFail = connection.schemaMayFail || sql.text.uppercased().contains("FAIL")
    let changes = try mayFail ? connection.savepoint { try run(sql) } : run(sql)
    if !Self.isDataStatement(sql.text) { try writer.reloadTriggers() }
    return changes
  }

  /// Runs the body so that a throw takes back what it did, and nothing before it. Savepoints nest.
  public func savepoint<Output>(_ body: () throws -> Output) throws -> Output {
    try checkIsOpen()
    return try connection.savepoint(body)
  }

  private func run(_ sql: SQL) throws -> Int {
    try connection.withStatement(sql.text, authority: .user) { statement in
      try statement.bind(sql.values)
      try statement.run()
      return statement.isReadOnly ? 0 : connection.changes
    }
  }

  private static func isDataStatement(_ text: String) -> Bool {
    let word = text.drop { $0.isWhitespace }.prefix { $0.isLetter }.uppercased()
    return ["INSERT", "UPDATE", "DELETE", "REPLACE", "SELECT"].contains(word)
  }
}
