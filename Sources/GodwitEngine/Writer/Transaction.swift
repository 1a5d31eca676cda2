import GodwitBase
import GodwitModel
import GodwitStorage

/// A write transaction: everything done through it is committed together, travels together and is seen together.
///
/// It is handed to a synchronous closure on the writer's own thread and serves only inside it.
public final class Transaction: Reader {
  package let writer: ReplicaWriter
  package let models: ModelWriter
  private let steps: WriteStepsCache
  /// How many writes of models with hooks are under way, each inside a hook of the one before.
  var hookDepth = 0
  /// Far beyond what nested data needs, and well within the writer's stack.
  static let deepestHook = 64

  init(_ writer: ReplicaWriter, models: ModelWriter) {
    self.writer = writer
    self.models = models
    steps = writer.steps
    super.init(writer.connection)
  }

  /// Inserts a row.
  ///
  /// - Returns: The model as it is stored: with the number and the timestamps that its schema asks for, and what its
  ///   hooks changed.
  /// - Throws: `validationFailed` when it breaks a rule, `constraint` when the key or a unique value is taken or a
  ///   check fails, `valueNotStorable` for NaN, and what its hooks throw.
  @discardableResult
  public func insert<Root: Model>(_ model: consuming Root) throws -> Root {
    try checkIsOpen()
    if let steps = steps.steps(for: Root.self) { return try insert(model, steps) }
    return try models.insert(model)
  }

  /// Inserts rows.
  ///
  /// - Returns: The models as they are stored, in the same order.
  @discardableResult
  public func insert<Root: Model>(_ all: [Root]) throws -> [Root] {
    try checkIsOpen()
    if steps.steps(for: Root.self) != nil { return try all.map { try insert($0) } }
    guard !Root.schema.layout.fillsIn else { return try all.map { try models.insert($0) } }
    try models.insertUnchanged(all)
    return all
  }

  /// Writes the columns that differ from the stored row, and only those.
  ///
  /// A schema's timestamps are not the program's to write: `created` stays, `updated` follows any other change.
  ///
  /// - Returns: Whether any differed.
  /// - Throws: `notFound` when no row has the key; `validationFailed`; `constraint` when a unique value is taken or a
  ///   check fails; what its hooks throw.
  @discardableResult
  public func update<Root: Model>(_ model: Root) throws -> Bool {
    try checkIsOpen()
    if let steps = steps.steps(for: Root.self) { return try update(model, steps) }
    return try models.update(model)
  }

  /// Updates rows.
  ///
  /// - Returns: How many differed from what was stored.
  @discardableResult
  public func update<Root: Model>(_ all: [Root]) throws -> Int { try all.count(where: { try update($0) }) }

  /// Inserts the row when its key is new, else updates the columns that differ.
  ///
  /// - Returns: The model as it is stored; see ``insert(_:)-(Root)``.
  /// - Throws: `validationFailed`, `constraint`, `valueNotStorable`; what its hooks throw.
  @discardableResult
  public func save<Root: Model>(_ model: consuming Root) throws -> Root {
    try checkIsOpen()
    _ = try store(&model)
    return model
  }

  /// Saves rows.
  ///
  /// - Returns: How many were new or differed.
  @discardableResult
  public func save<Root: Model>(_ all: [Root]) throws -> Int {
    try checkIsOpen()
    return try all.count { model in
      var model = model
      return try store(&model)
    }
  }

  /// Leaves the model as it is stored; whether anything was written.
  private func store<Root: Model>(_ model: inout Root) throws -> Bool {
    if let steps = steps.steps(for: Root.self) { return try save(&model, steps) }
    return try models.save(&model)
  }

  /// Writes only these properties onto the stored row, whose other columns stay as they are; inserts the whole model
  /// when its key is new. Rules and hooks see the row as it will be, and a column that a hook changes is written too.
  ///
  /// - Returns: Whether anything was written.
  /// - Throws: `notInSchema` for a property that is no column; `validationFailed`, `constraint`; what its hooks throw.
  @discardableResult
  public func save<Root: Model>(_ model: Root, merging properties: [PartialKeyPath<Root>]) throws -> Bool {
    try checkIsOpen()
    let columns = try properties.map { try Root.schema.column(for: $0) }
    if let steps = steps.steps(for: Root.self) { return try save(model, columns: columns, steps) }
    if let hasChanged = try models.update(model, columns: columns) { return hasChanged }
    _ = try models.insert(model)
    return true
  }

  /// Deletes the row.
  ///
  /// - Returns: Whether there was one.
  @discardableResult
  public func delete<Root: Model>(_ model: Root) throws -> Bool { try delete(Root.self, key: model.id) }

  /// Deletes rows.
  ///
  /// - Returns: How many there were.
  @discardableResult
  public func delete<Root: Model>(_ all: [Root]) throws -> Int { try all.count(where: { try delete($0) }) }

  /// Deletes the row with this key.
  ///
  /// - Returns: Whether there was one.
  /// - Throws: What its hooks throw.
  @discardableResult
  public func delete<Root: Model>(_ type: Root.Type, key: Root.ID) throws -> Bool {
    try checkIsOpen()
    if let steps = steps.steps(for: Root.self) { return try delete(type, key: key, steps) }
    return try models.delete(type, key: key)
  }

  /// Drops the table of a model that is `.local`, with its rows. The replica makes it again when it is next opened
  /// with the model.
  ///
  /// - Throws: `notAuthorized` for a synced table, which other replicas continue to write to; `notInSchema` when there
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
    return try execute(sql.text, times: 1) { _ in sql.values }
  }

  /// Runs one statement several times, each with values of its own: all of them or, when one fails, none.
  ///
  /// - Parameter values: Gives the values by the run's number, from 0 on.
  /// - Returns: How many rows they changed.
  package func execute(_ text: String, times: Int, values: (Int) throws -> [Value]) throws -> Int {
    try checkIsOpen()
    try models.endRun()
    let changes = try run(text, times, values)
    if !Self.isDataStatement(text) { try writer.triggersMayHaveChanged() }
    return changes
  }

  /// Runs the body so that a throw takes back what it did, and nothing before it. Savepoints nest.
  public func savepoint<Output>(_ body: () throws -> Output) throws -> Output {
    try checkIsOpen()
    do {
      return try connection.savepoint(body)
    } catch {
      if connection.isInTransaction { try writer.savepointWasRolledBack() }
      throw error
    }
  }

  /// SQLite may leave what a statement did before it failed: by `OR FAIL`, and where a function fails, such as the
  /// capture's, in a statement that can break no constraint. A savepoint leaves nothing.
  private func run(_ text: String, _ times: Int, _ values: (Int) throws -> [Value]) throws -> Int {
    try connection.withStatement(text, authority: .user) { statement in
      guard !statement.isReadOnly else { return try run(statement, times, values) }
      return try connection.savepoint { try run(statement, times, values) }
    }
  }

  private func run(_ statement: Statement, _ times: Int, _ values: (Int) throws -> [Value]) throws -> Int {
    var sum = 0
    for number in 0..<times {
      try statement.bind(try values(number))
      let before = connection.totalChanges
      try statement.run()
      // What changes no rows, such as CREATE INDEX, leaves the number of the statement before it.
      if connection.totalChanges != before { sum += connection.changes }
    }
    return sum
  }

  private static func isDataStatement(_ text: String) -> Bool {
    let word = text.drop { $0.isWhitespace }.prefix { $0.isLetter }.uppercased()
    return ["INSERT", "UPDATE", "DELETE", "REPLACE", "SELECT"].contains(word)
  }
}
