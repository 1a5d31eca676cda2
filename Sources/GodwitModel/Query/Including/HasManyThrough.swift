import GodwitBase
import GodwitStorage

/// The rows of another model that rows of a third one connect: `HasManyThrough(\Tagging.note, \Tagging.tag)`.
///
/// Unchecked Sendable: key paths are immutable, and those of properties capture nothing.
public struct HasManyThrough<Root: Model, Through: Model, Target: Model>: Relation, @unchecked Sendable {
  private let source: WritableKeyPath<Through, Root.ID> & Sendable
  private let target: WritableKeyPath<Through, Target.ID> & Sendable
  private var refine: @Sendable (Query<Target>) -> Query<Target> = { $0 }

  /// Two rows that are connected, by however many rows.
  private struct Connected: Hashable {
    let source: StoredKey<Root.ID>
    let target: StoredKey<Target.ID>
  }

  /// Connected by rows that hold both keys.
  public init(
    _ source: WritableKeyPath<Through, Root.ID> & Sendable, _ target: WritableKeyPath<Through, Target.ID> & Sendable,
    of root: Root.Type, to other: Target.Type
  ) {
    self.source = source
    self.target = target
  }

  /// Only some of the rows, or in an order. Those of one row (``of(_:)``) may also have a limit, an offset or groups;
  /// loading them along throws `invalidArgument` then.
  public func refined(_ refine: @escaping @Sendable (Query<Target>) -> Query<Target>) -> Self {
    var copy = self
    let earlier = self.refine
    copy.refine = { refine(earlier($0)) }
    return copy
  }

  /// The rows that one row has.
  public func of(_ root: Root) -> Query<Target> {
    let keys = links(of: root).select { $0[dynamicMember: target] }
    let connected = Target.all.with {
      $0.add(
        SQLExpression([Fields<Target>().key, .text(" IN ("), .subquery(keys.statement.parts), .text(")")], .comparison))
    }
    return refine(connected)
  }

  /// A row that connects the two.
  package func link(_ root: Root, _ other: Target) -> Through {
    var link = Through()
    link[keyPath: source] = root.id
    link[keyPath: target] = other.id
    return link
  }

  /// The rows that connect one row with others.
  public func links(of root: Root) -> Query<Through> {
    Through.where { $0[dynamicMember: source] == root.id }
  }

  /// The rows that connect one row with another.
  public func links(of root: Root, to other: Target) -> Query<Through> {
    links(of: root).where { $0[dynamicMember: target] == other.id }
  }

  /// How Godwit loads it.
  public var loader: RelationLoader<Root, [Target]> {
    let tables = refine(Target.all).tables
    return RelationLoader(tables: tables.isEmpty ? [] : tables.union([Through.schema.table]), load: load)
  }

  private func load(_ roots: [Root], of query: Query<Root>, on connection: Connection) throws -> [[Target]] {
    let wanted = KeySet(query.statement.selectingColumn(Fields<Root>().key), roots.map(\.id))
    let related = refine(Target.all).statement
    guard related.isPlain else {
      throw GodwitError(
        .invalidArgument, "a limit, an offset or groups of what each row has by way of others cannot be loaded along",
        hint: "fetch it for one row: relation.of(row)")
    }
    var groups = KeyGroups<Root.ID, Target>(roots.map(\.id))
    var seen: Set<Connected> = []
    for condition in wanted.conditions(on: Fields<Through>().part(source)) {
      let rows = Through.join(Target.self) { link, target in
        link[dynamicMember: self.target] == SQLExpression<Target.ID>([Fields<Target>(alias: target.alias).key])
      }.where { _, _ in condition }.matching(related)
      for (link, target) in try rows.fetch(on: connection) {
        let key = link[keyPath: source]
        // Two replicas may each have connected the two.
        let connected = Connected(source: StoredKey(key), target: StoredKey(target.id))
        guard seen.insert(connected).inserted else { continue }
        groups.add(CollectionOfOne(target), to: key)
      }
    }
    return groups.all
  }
}

// A record ID names its model, so that nothing more need be said.
extension HasManyThrough where Root.ID == RecordID<Root>, Target.ID == RecordID<Target> {
  /// Connected by rows that hold both keys.
  public init(
    _ source: WritableKeyPath<Through, RecordID<Root>> & Sendable,
    _ target: WritableKeyPath<Through, RecordID<Target>> & Sendable
  ) {
    self.init(source, target, of: Root.self, to: Target.self)
  }
}
