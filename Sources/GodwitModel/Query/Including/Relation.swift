import GodwitBase

/// How rows of one model belong to rows of another: what can be loaded along with a query.
public protocol Relation<Root>: Sendable {
  /// The model whose rows have something.
  associatedtype Root: Model
  /// What each of them has.
  associatedtype Output: Sendable

  /// What each of the rows has, in their order; in a number of statements that does not grow with the rows of a query
  /// without limit, and by one for 500 rows of a query with one.
  func _load(_ roots: [Root], of query: Query<Root>, _ connection: FetchConnection) throws -> [Output]

  /// The tables it reads; never called by programs.
  var _tables: Set<String> { get }
}

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

  /// The tables it reads; never called by programs.
  public var _tables: Set<String> { [Target.schema.table] }

  /// Loads what the rows have; never called by programs.
  public func _load(_ roots: [Root], of query: Query<Root>, _ connection: FetchConnection) throws -> [Target?] {
    let wanted = KeySet(query.statement.selectingColumn(Fields<Root>().part(keyPath)), roots.compactMap(key))
    var found: [Target.ID: Target] = [:]
    for condition in wanted.conditions(on: Fields<Target>().key) {
      for target in try Target.all.with({ $0.add(condition) })._fetch(connection) { found[target.id] = target }
    }
    return roots.map { key($0).flatMap { found[$0] } }
  }
}

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

  /// Only some of the rows, or in an order.
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

  package func holds(_ target: Target, for root: Root) -> Bool { key(target) == root.id }

  /// The rows that one row has.
  public func of(_ root: Root) -> Query<Target> { refine(Target.all.where { _ in condition(root.id) }) }

  /// The tables it reads; never called by programs.
  public var _tables: Set<String> { [Target.schema.table] }

  /// Loads what the rows have; never called by programs.
  public func _load(_ roots: [Root], of query: Query<Root>, _ connection: FetchConnection) throws -> [[Target]] {
    let wanted = KeySet(query.statement.selectingColumn(Fields<Root>().key), roots.map(\.id))
    let related = refine(Target.all)
    let column = Fields<Target>().part(keyPath)
    // What belongs to every row is read in one pass; through the index it would take a search a row.
    let isEverything = query.statement.isEveryRow && related.statement.isPlain
    let present = SQLExpression<Bool>([column, .text(" IS NOT NULL")], .comparison)
    var groups = Groups<Root.ID, Target>(roots.map(\.id))
    for condition in isEverything ? [present] : wanted.conditions(on: column) {
      let targets = try related.with { $0.add(condition) }._fetch(connection)
      // Without an order of their own, rows come key by key; what is done once for a run of them is not done for each.
      var start = 0
      while start < targets.count {
        let key = key(targets[start])
        let end = targets[start...].firstIndex { self.key($0) != key } ?? targets.count
        if let key { groups.add(targets[start..<end], to: key) }
        start = end
      }
    }
    return groups.all
  }
}

/// The rows of another model that rows of a third one connect: `HasManyThrough(\Tagging.note, \Tagging.tag)`.
///
/// Unchecked Sendable: key paths are immutable, and those of properties capture nothing.
public struct HasManyThrough<Root: Model, Through: Model, Target: Model>: Relation, @unchecked Sendable {
  private let source: WritableKeyPath<Through, Root.ID> & Sendable
  private let target: WritableKeyPath<Through, Target.ID> & Sendable

  /// Connected by rows that hold both keys.
  public init(
    _ source: WritableKeyPath<Through, Root.ID> & Sendable, _ target: WritableKeyPath<Through, Target.ID> & Sendable,
    of root: Root.Type, to other: Target.Type
  ) {
    self.source = source
    self.target = target
  }

  /// The rows that one row has.
  public func of(_ root: Root) -> Query<Target> {
    let keys = links(of: root).select { $0[dynamicMember: target] }
    return Target.all.with {
      $0.add(SQLExpression([Fields<Target>().key, .text(" IN ("), .subquery(keys.statement.parts), .text(")")], .comparison))
    }
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

  /// The tables it reads; never called by programs.
  public var _tables: Set<String> { [Through.schema.table, Target.schema.table] }

  /// Loads what the rows have; never called by programs.
  public func _load(_ roots: [Root], of query: Query<Root>, _ connection: FetchConnection) throws -> [[Target]] {
    let wanted = KeySet(query.statement.selectingColumn(Fields<Root>().key), roots.map(\.id))
    var groups = Groups<Root.ID, Target>(roots.map(\.id))
    for condition in wanted.conditions(on: Fields<Through>().part(source)) {
      let rows = Through.join(Target.self) { link, target in
        link[dynamicMember: self.target] == SQLExpression<Target.ID>([Fields<Target>(alias: target.alias).key])
      }.where { _, _ in condition }
      for (link, target) in try rows._fetch(connection) { groups.add(CollectionOfOne(target), to: link[keyPath: source]) }
    }
    return groups.all
  }
}

/// The keys of the rows that a query found: as the query itself, or, when it has a limit, one by one in portions, since
/// then another run might choose others among equals.
struct KeySet<Key: ColumnValue & Hashable> {
  private let keys: [Key]
  private let subquery: [SQLPart]?
  private static var portion: Int { 500 }

  init(_ statement: SelectStatement, _ keys: [Key]) {
    self.keys = keys
    subquery = statement.limit == nil && statement.offset == nil ? statement.parts : nil
  }

  /// One condition for each statement that is needed.
  func conditions(on column: SQLPart) -> [SQLExpression<Bool>] {
    if keys.isEmpty { return [] }
    if let subquery {
      return [SQLExpression([column, .text(" IN ("), .subquery(subquery), .text(")")], .comparison)]
    }
    let unique = Array(Set(keys))
    return stride(from: 0, to: unique.count, by: Self.portion).map { start in
      SQLExpression<Key>([column]).isIn(unique[start..<min(start + Self.portion, unique.count)])
    }
  }
}

/// Rows handed out to the keys they belong to.
private struct Groups<Key: Hashable, Element> {
  private let places: [Key: Int]
  private var elements: [[Element]]

  /// The keys of a query's rows, each once.
  init(_ keys: [Key]) {
    places = Dictionary(zip(keys, keys.indices), uniquingKeysWith: { first, _ in first })
    elements = Array(repeating: [], count: keys.count)
  }

  mutating func add(_ new: some Collection<Element>, to key: Key) {
    if let place = places[key] { elements[place].append(contentsOf: new) }
  }

  /// What each key has, in the order of the keys.
  var all: [[Element]] { elements }
}

extension Fields {
  /// The key's column.
  var key: SQLPart {
    let schema = Root.schema
    guard schema.keyCount == 1 else {
      return .failure(
        GodwitError(
          .notInSchema, "table \(schema.table) has a key of several columns, which no property of another model holds",
          hint: "join on the columns instead"))
    }
    return .column(table: name, name: schema.columns[0].name)
  }
}

extension SelectStatement {
  func selectingColumn(_ column: SQLPart) -> Self {
    var copy = self
    copy.columns = [[column]]
    if limit == nil, offset == nil { copy.orders = [] }
    return copy
  }
}

// A record ID names its model, so that nothing more need be said.
extension BelongsTo where Target.ID == RecordID<Target> {
  /// Through an optional property.
  public init(_ keyPath: KeyPath<Root, RecordID<Target>?>) { self.init(keyPath, Target.self) }
  /// Through a property that always holds a key.
  public init(_ keyPath: KeyPath<Root, RecordID<Target>>) { self.init(keyPath, Target.self) }
}

extension HasMany where Root.ID == RecordID<Root> {
  /// Through an optional property.
  public init(_ keyPath: WritableKeyPath<Target, RecordID<Root>?> & Sendable) { self.init(keyPath, of: Root.self) }
  /// Through a property that always holds a key.
  public init(_ keyPath: WritableKeyPath<Target, RecordID<Root>> & Sendable) { self.init(keyPath, of: Root.self) }
}

extension HasManyThrough where Root.ID == RecordID<Root>, Target.ID == RecordID<Target> {
  /// Connected by rows that hold both keys.
  public init(
    _ source: WritableKeyPath<Through, RecordID<Root>> & Sendable,
    _ target: WritableKeyPath<Through, RecordID<Target>> & Sendable
  ) {
    self.init(source, target, of: Root.self, to: Target.self)
  }
}
