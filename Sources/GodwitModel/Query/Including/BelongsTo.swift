import GodwitBase
import GodwitStorage

/// The row of another model whose key a property holds: `BelongsTo(\Note.folder)`.
///
/// Unchecked Sendable: key paths are immutable, and those of properties capture nothing.
public struct BelongsTo<Root: Model, Target: Model>: Relation, @unchecked Sendable {
  private let keyPath: PartialKeyPath<Root>
  private let key: (Root) -> Target.ID?

  /// Through an optional property.
  public init(_ keyPath: KeyPath<Root, Target.ID?>, _ target: Target.Type) {
    self.keyPath = keyPath
    key = { $0[keyPath: keyPath] }
  }

  /// Through a property that always holds a key.
  public init(_ keyPath: KeyPath<Root, Target.ID>, _ target: Target.Type) {
    self.keyPath = keyPath
    key = { $0[keyPath: keyPath] }
  }

  /// How Godwit loads it.
  public var loader: RelationLoader<Root, Target?> {
    RelationLoader(tables: [Target.schema.table], load: load)
  }

  private func load(_ roots: [Root], of query: Query<Root>, on connection: Connection) throws -> [Target?] {
    let wanted = KeySet(query.statement.selectingColumn(Fields<Root>().part(keyPath)), roots.compactMap(key))
    var found: [StoredKey<Target.ID>: Target] = [:]
    for condition in wanted.conditions(on: Fields<Target>().key) {
      for target in try Target.all.with({ $0.add(condition) }).fetch(on: connection) {
        found[StoredKey(target.id)] = target
      }
    }
    return roots.map { key($0).flatMap { found[StoredKey($0)] } }
  }
}

// A record ID names its model, so that nothing more need be said.
extension BelongsTo where Target.ID == RecordID<Target> {
  /// Through an optional property.
  public init(_ keyPath: KeyPath<Root, RecordID<Target>?>) { self.init(keyPath, Target.self) }
  /// Through a property that always holds a key.
  public init(_ keyPath: KeyPath<Root, RecordID<Target>>) { self.init(keyPath, Target.self) }
}
