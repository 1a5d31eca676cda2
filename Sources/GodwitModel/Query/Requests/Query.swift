import GodwitBase
import GodwitStorage

/// Rows of one model to fetch, update or delete: a value that runs only when it is handed to a reader, a transaction
/// or a replica.
public struct Query<Root: Model>: Sendable {
  private(set) var statement = Root.schema.layout.everything
  private var written = WrittenSQL()

  init() {}

  func with(_ change: (inout SelectStatement) -> Void) -> Self {
    var copy = self
    change(&copy.statement)
    copy.written = WrittenSQL()
    return copy
  }

  /// Rows that also meet the condition.
  public func `where`(_ condition: (Fields<Root>) -> SQLExpression<Bool>) -> Query {
    with { $0.add(condition(Fields())) }
  }

  /// Sorted by the property, after the orders given before.
  public func order<Property: ColumnValue>(
    by keyPath: KeyPath<Root, Property>, _ order: Ordering.Direction = .ascending
  ) -> Query {
    let field = Fields<Root>()[dynamicMember: keyPath]
    return with { $0.orders += (order == .ascending ? field.ascending : field.descending).terms }
  }

  /// Sorted by expressions, after the orders given before: `order { [$0.folder.ascending, $0.views.descending] }`.
  public func order(_ orders: (Fields<Root>) -> [Ordering]) -> Query {
    with { $0.orders += orders(Fields()).flatMap(\.terms) }
  }

  /// One row for each group of rows that hold the same; what is selected besides should be an aggregate.
  public func group(by keyPaths: PartialKeyPath<Root>...) -> Query {
    with { $0.groups += keyPaths.map { [Fields<Root>().part($0)] } }
  }

  /// Groups that meet the condition, which may use aggregates.
  public func having(_ condition: (Fields<Root>) -> SQLExpression<Bool>) -> Query {
    with { $0.add(having: condition(Fields())) }
  }

  /// Each different row once. Useful with a selection: whole rows differ by their key.
  public func distinct() -> Query { with { $0.isDistinct = true } }

  /// At most that many rows.
  public func limit(_ count: Int) -> Query { with { $0.limit = count } }

  /// At most that many rows; all when nil.
  public func limit(_ count: Int?) -> Query { with { $0.limit = count } }

  /// Without the first rows; works with and without a limit.
  public func offset(_ count: Int) -> Query { with { $0.offset = count } }
}

extension Query {
  /// Whole models without some of their columns, such as large ones: those properties stay as `init()` makes them.
  /// The key is always read.
  public func omitting(_ keyPaths: PartialKeyPath<Root>...) -> Selection<Root> {
    let omitted = keyPaths.map { Fields<Root>().part($0) }
    let names = omitted.compactMap { part in if case .column(_, let name) = part { name } else { nil } }
    let schema = Root.schema
    let kept = schema.columns.indices.filter { $0 < schema.keyCount || !names.contains(schema.columns[$0].name) }
    var columns: [[SQLPart]] = kept.map { [.column(table: schema.table, name: schema.columns[$0].name)] }
    // A property that is no column shows when the statement is written.
    columns += omitted.filter { part in if case .failure = part { true } else { false } }.map { [$0] }
    var copy = statement
    copy.columns = columns
    return Selection(copy) { statement in
      var model = Root()
      try withUnsafeMutableBytes(of: &model) { bytes in
        guard let start = bytes.baseAddress else { return }
        try Root.schema.layout.read(statement, columns: kept, into: start)
      }
      return model
    }
  }
}

extension Query: RunnableRequest {
  /// The SELECT that is run, with its bound values; throws as ``FetchRequest/sql`` says.
  public var sql: SQL { get throws { try written.sql { try statement.sql } } }
  /// How Godwit runs it.
  public var request: Request<Root> { Request(self) }

  package var tables: Set<String> { statement.tablesRead }
  package func fetch(on connection: Connection) throws -> [Root] { try connection.models(sql) }
  package func forEach(on connection: Connection, _ sink: RowSink<Root>) throws {
    try connection.forEach(sql) { try sink.take(Root.schema.layout.model($0)) }
  }
  package func count(on connection: Connection) throws -> Int { try connection.count(statement.countSQL) }
}

extension Model {
  /// Every row.
  public static var all: Query<Self> { Query() }

  /// The rows that meet the condition: `Note.where { $0.views > 3 }`.
  public static func `where`(_ condition: (Fields<Self>) -> SQLExpression<Bool>) -> Query<Self> {
    all.where(condition)
  }

  /// Every row, sorted.
  public static func order<Property: ColumnValue>(
    by keyPath: KeyPath<Self, Property>, _ order: Ordering.Direction = .ascending
  ) -> Query<Self> {
    all.order(by: keyPath, order)
  }

  /// Every row, sorted by expressions: `Note.order { [$0.folder.ascending, $0.views.descending] }`.
  public static func order(_ orders: (Fields<Self>) -> [Ordering]) -> Query<Self> { all.order(orders) }
}
