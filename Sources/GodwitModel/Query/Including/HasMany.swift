import GodwitBase
import GodwitStorage

/// The rows of another model that hold a row's key in a property: `HasMany(\Note.folder)` of folders.
///
/// Unchecked Sendable: key paths are immutable, and those of properties capture nothing.
public struct HasMany<Root: Model, Target: Model>: Relation, @unchecked Sendable {
  private let keyPath: PartialKeyPath<Target>
  private let key: (Target) -> Root.ID?
  private let condition: @Sendable (Root.ID) -> SQLExpression<Bool>
  /// Puts a key, or none, into the property; false when it must hold one.
  private let assign: (inout Target, Root.ID?) -> Bool
  private var refine: @Sendable (Query<Target>) -> Query<Target> = { $0 }

  /// Through an optional property.
  public init(_ keyPath: WritableKeyPath<Target, Root.ID?> & Sendable, of root: Root.Type) {
    self.keyPath = keyPath
    key = { $0[keyPath: keyPath] }
    condition = { key in Fields<Target>()[dynamicMember: keyPath] == key }
    assign = { target, key in
      target[keyPath: keyPath] = key
      return true
    }
  }

  /// Through a property that always holds a key.
  public init(_ keyPath: WritableKeyPath<Target, Root.ID> & Sendable, of root: Root.Type) {
    self.keyPath = keyPath
    key = { $0[keyPath: keyPath] }
    condition = { key in Fields<Target>()[dynamicMember: keyPath] == key }
    assign = { target, key in
      guard let key else { return false }
      target[keyPath: keyPath] = key
      return true
    }
  }

  /// Only some of the rows, or in an order. A limit, an offset and groups are those of each parent by itself.
  public func refined(_ refine: @escaping @Sendable (Query<Target>) -> Query<Target>) -> Self {
    var copy = self
    let earlier = self.refine
    copy.refine = { refine(earlier($0)) }
    return copy
  }

  /// The target with the root's key in its property.
  package func adopted(_ target: Target, by root: Root) -> Target {
    var target = target
    _ = assign(&target, root.id)
    return target
  }

  /// The target with no key in its property; nil when it must hold one.
  package func orphaned(_ target: Target) -> Target? {
    var target = target
    return assign(&target, nil) ? target : nil
  }

  package func holds(_ target: Target, for root: Root) -> Bool { key(target).map(StoredKey.init) == StoredKey(root.id) }

  /// The rows that one row has.
  public func of(_ root: Root) -> Query<Target> { refine(Target.all.where { _ in condition(root.id) }) }

  /// How Godwit loads it.
  public var loader: RelationLoader<Root, [Target]> {
    RelationLoader(tables: refine(Target.all).tables, load: load)
  }

  private func load(_ roots: [Root], of query: Query<Root>, on connection: Connection) throws -> [[Target]] {
    let wanted = KeySet(query.statement.selectingColumn(Fields<Root>().key), roots.map(\.id))
    let related = refine(Target.all)
    let column = Fields<Target>().part(keyPath)
    // What belongs to every row is read in one pass; through the index it would take a search a row.
    let isEverything = query.statement.isEveryRow && related.statement.isPlain
    let present = SQLExpression<Bool>([column, .text(" IS NOT NULL")], .comparison)
    var groups = KeyGroups<Root.ID, Target>(roots.map(\.id))
    let queries =
      if isEverything {
        [related.with { $0.add(present) }]
      } else if related.statement.isPlain {
        wanted.conditions(on: column).map { condition in related.with { $0.add(condition) } }
      } else {
        ofEach(wanted, related, column)
      }
    for query in queries {
      let targets = try query.fetch(on: connection)
      // Without an order of their own, rows come key by key; what is done once for a run of them is not done for each.
      var start = 0
      while start < targets.count {
        let key = key(targets[start])
        var end = start + 1
        while end < targets.count, StoredKey.areSame(self.key(targets[end]), key) { end += 1 }
        if let key { groups.add(targets[start..<end], to: key) }
        start = end
      }
    }
    return groups.all
  }

  /// The query run for each parent by itself, in one statement: SQLite 3.15 has no window functions, but looks rows up
  /// by the numbers that an inner query chooses for the parent at hand.
  private func ofEach(_ wanted: KeySet<Root.ID>, _ related: Query<Target>, _ column: SQLPart) -> [Query<Target>] {
    let parent = Fields<Root>(alias: "godwit_parent")
    var own = related.statement
    let rowNumber = Fields<Target>.rowNumber
    own.columns = [[rowNumber]]
    own.isDistinct = false
    own.add(SQLExpression([column, .text(" = "), parent.key], .comparison))
    let chosen: [SQLPart] = [
      rowNumber, .text(" IN ("), .subquery(own.parts), .text(")"),
    ]
    return wanted.conditions(on: parent.key).map { condition in
      Query().with { statement in
        statement = statement.qualified(Target.self)
        // CROSS JOIN keeps the parents first, so that the inner query runs once for each.
        statement.arms = [.init(source: [.text("\(parent.source) CROSS JOIN \(Fields<Target>().source) ON ")] + chosen)]
        statement.tables.insert(Root.schema.table)
        statement.add(condition)
        statement.orders = related.statement.orders
      }
    }
  }
}

// A record ID names its model, so that nothing more need be said.
extension HasMany where Root.ID == RecordID<Root> {
  /// Through an optional property.
  public init(_ keyPath: WritableKeyPath<Target, RecordID<Root>?> & Sendable) { self.init(keyPath, of: Root.self) }
  /// Through a property that always holds a key.
  public init(_ keyPath: WritableKeyPath<Target, RecordID<Root>> & Sendable) { self.init(keyPath, of: Root.self) }
}
