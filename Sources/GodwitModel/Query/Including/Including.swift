import GodwitBase
import GodwitStorage

/// Rows of a query, each with what belongs to it, as a tuple: loaded in one statement for the rows and a bounded
/// number for each relation, never one a row.
///
/// ```swift
/// for (folder, notes) in try await replica.fetch(Folder.all.including(HasMany(\Note.folder))) { … }
/// ```
public struct Including<Root: Model, each Related: Sendable>: Sendable {
  private let query: Query<Root>
  private let loaders: (repeat RelationLoader<Root, each Related>)

  init(_ query: Query<Root>, _ loaders: repeat RelationLoader<Root, each Related>) {
    self.query = query
    self.loaders = (repeat each loaders)
  }

  /// With another relation loaded too.
  public func including<Another: Relation>(
    _ another: Another
  ) -> Including<Root, repeat each Related, Another.Output> where Another.Root == Root {
    Including<Root, repeat each Related, Another.Output>(query, repeat each loaders, another.loader)
  }
}

extension Including {
  /// With the row whose key the property holds, or nil.
  public func including<Target: Model>(
    _ keyPath: KeyPath<Root, RecordID<Target>?>
  ) -> Including<Root, repeat each Related, Target?> where Target.ID == RecordID<Target> {
    including(BelongsTo(keyPath, Target.self))
  }

  /// With the row whose key the property holds.
  public func including<Target: Model>(
    _ keyPath: KeyPath<Root, RecordID<Target>>
  ) -> Including<Root, repeat each Related, Target?> where Target.ID == RecordID<Target> {
    including(BelongsTo(keyPath, Target.self))
  }
}

extension Including: RunnableRequest {
  /// The SELECT of the rows themselves, without what is loaded along.
  public var sql: SQL { get throws { try query.sql } }
  /// The same for at most that many rows, with all that belongs to each.
  public func limit(_ count: Int) -> Self { Self(query.limit(count), repeat each loaders) }
  /// How Godwit runs it.
  public var request: Request<(Root, repeat each Related)> { Request(self) }

  package func count(on connection: Connection) throws -> Int { try query.count(on: connection) }

  package var tables: Set<String> {
    var tables = query.tables
    if tables.isEmpty { return [] }  // any
    for loader in repeat each loaders {
      if loader.tables.isEmpty { return [] }  // any
      tables.formUnion(loader.tables)
    }
    return tables
  }

  package func fetch(on connection: Connection) throws -> [(Root, repeat each Related)] {
    let roots = try query.fetch(on: connection)
    let loaded = (repeat try (each loaders).load(roots, query, connection))
    return roots.indices.map { number in (roots[number], repeat (each loaded)[number]) }
  }

  /// A portion of rows at a time is loaded with what belongs to it.
  package func forEach(on connection: Connection, _ sink: RowSink<(Root, repeat each Related)>) throws {
    let portion = 500
    var roots: [Root] = []
    func flush() throws {
      // A query with a limit loads by the keys of these rows, and not by the whole query.
      let loaded = (repeat try (each loaders).load(roots, query.limit(roots.count), connection))
      for number in roots.indices { try sink.take((roots[number], repeat (each loaded)[number])) }
      roots.removeAll(keepingCapacity: true)
    }
    let collect: (Root) throws -> Void = { root in
      roots.append(root)
      if roots.count == portion { try flush() }
    }
    try RowSink.with(collect) { try query.forEach(on: connection, $0) }
    if !roots.isEmpty { try flush() }
  }
}

extension Query {
  /// Each row with what belongs to it.
  public func including<Related: Relation>(_ relation: Related) -> Including<Root, Related.Output>
  where Related.Root == Root {
    Including(self, relation.loader)
  }

  /// Each row with the row whose key the property holds, or nil.
  public func including<Target: Model>(
    _ keyPath: KeyPath<Root, RecordID<Target>?>
  ) -> Including<Root, Target?> where Target.ID == RecordID<Target> {
    including(BelongsTo(keyPath, Target.self))
  }

  /// Each row with the row whose key the property holds.
  public func including<Target: Model>(
    _ keyPath: KeyPath<Root, RecordID<Target>>
  ) -> Including<Root, Target?> where Target.ID == RecordID<Target> {
    including(BelongsTo(keyPath, Target.self))
  }
}

extension Model {
  /// Every row with what belongs to it.
  public static func including<Related: Relation>(
    _ relation: Related
  ) -> Including<Self, Related.Output> where Related.Root == Self { all.including(relation) }
}
