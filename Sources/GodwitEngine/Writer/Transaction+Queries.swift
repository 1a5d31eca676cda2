import GodwitBase
import GodwitModel
import GodwitStorage

// Writing through queries.
extension Transaction {
  /// Updates every row of the query in one statement: `update(Note.where { $0.views > 3 }) { $0.views += 1 }`.
  ///
  /// - Returns: How many rows there were, also those that held the values already.
  /// - Throws: `constraint`; `notInSchema` for a property that is no column, or a model the replica was not opened
  ///   with.
  @discardableResult
  public func update<Root: Model>(
    _ query: Query<Root>, _ assign: (inout Assignments<Root>) -> Void
  ) throws -> Int {
    guard let sql = try query.update(assign) else { return 0 }
    return try run(sql)
  }

  /// Updates every row of the query by column names. Values are bound as they are: their storage class is the caller's.
  ///
  /// - Returns: How many rows there were.
  /// - Throws: `notInSchema` for a name that is no column, or a model the replica was not opened with; `constraint`.
  @discardableResult
  public func update<Root: Model>(_ query: Query<Root>, set values: [String: Value]) throws -> Int {
    guard let sql = try query.update(values) else { return 0 }
    return try run(sql)
  }

  /// Deletes every row of the query in one statement.
  ///
  /// - Returns: How many rows there were, without those that references deleted along.
  /// - Throws: `constraint` when a reference forbids it; `notInSchema` for a model the replica was not opened with.
  @discardableResult
  public func delete<Root: Model>(_ query: Query<Root>) throws -> Int { try run(query.deletion) }

  /// Runs a statement that Godwit wrote with no more rights than one of the program's: its table may be anything.
  private func run(_ sql: SQL) throws -> Int {
    do { return try execute(sql) } catch { throw Statement.explain(error) }
  }
}

// Relations.
extension Transaction {
  /// Gives the parent the child: puts the parent's key into the child and saves the child. The parent itself may be
  /// saved later in the same transaction.
  ///
  /// - Returns: The child as it is saved.
  @discardableResult
  public func add<Root: Model, Target: Model>(
    _ child: Target, to parent: Root, _ relation: HasMany<Root, Target>
  ) throws -> Target {
    try save(relation.adopted(child, by: parent))
  }

  /// Takes the child from the parent: its property becomes nil, or, when it must hold a key, the child is deleted.
  ///
  /// - Returns: Whether it was the parent's.
  @discardableResult
  public func remove<Root: Model, Target: Model>(
    _ child: Target, from parent: Root, _ relation: HasMany<Root, Target>
  ) throws -> Bool {
    guard let stored = try fetch(Target.self, key: child.id), relation.holds(stored, for: parent) else { return false }
    guard let orphan = relation.orphaned(stored) else { return try delete(stored) }
    return try update(orphan)
  }

  /// Connects the two rows, unless they are connected.
  ///
  /// - Returns: Whether they were not.
  @discardableResult
  public func add<Root: Model, Through: Model, Target: Model>(
    _ other: Target, to root: Root, _ relation: HasManyThrough<Root, Through, Target>
  ) throws -> Bool {
    guard try count(relation.links(of: root, to: other)) == 0 else { return false }
    try insert(relation.link(root, other))
    return true
  }

  /// Deletes what connects the two rows; the rows themselves stay.
  ///
  /// - Returns: Whether they were connected.
  @discardableResult
  public func remove<Root: Model, Through: Model, Target: Model>(
    _ other: Target, from root: Root, _ relation: HasManyThrough<Root, Through, Target>
  ) throws -> Bool {
    try delete(relation.links(of: root, to: other)) > 0
  }
}
