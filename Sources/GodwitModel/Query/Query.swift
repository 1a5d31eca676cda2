import GodwitBase

/// Which way to sort.
public enum SortOrder: Sendable {
  /// Smallest first; NULL before everything.
  case ascending
  /// Greatest first; NULL after everything.
  case descending
}

/// What to fetch: a value that runs only when a snapshot or transaction is asked for it.
public struct Query<Root: Model>: Sendable {
  private var filter: Predicate<Root>?
  private var orders: [Result<String, GodwitError>] = []
  private var rowLimit: Int?
  private var rowOffset: Int?

  init(filter: Predicate<Root>? = nil) { self.filter = filter }

  /// Rows that also meet the condition.
  public func `where`(_ condition: (Fields<Root>) -> Predicate<Root>) -> Query {
    let added = condition(Fields())
    var copy = self
    copy.filter = filter.map { $0 && added } ?? added
    return copy
  }

  /// Sorted by the property, after the orders given before.
  public func order<Property: ColumnValue>(
    by keyPath: KeyPath<Root, Property>, _ order: SortOrder = .ascending
  ) -> Query {
    var copy = self
    copy.orders.append(
      Fields<Root>()[dynamicMember: keyPath].name.map { order == .ascending ? $0 : "\($0) DESC" })
    return copy
  }

  /// At most that many rows.
  public func limit(_ count: Int) -> Query {
    var copy = self
    copy.rowLimit = count
    return copy
  }

  /// Without the first rows; works with and without a limit.
  public func offset(_ count: Int) -> Query {
    var copy = self
    copy.rowOffset = count
    return copy
  }

  /// The SELECT that fetches the rows. Throws `notInSchema` for a property that is no column, `valueNotStorable`
  /// for a value that cannot be compared, `invalidArgument` for a negative limit or offset.
  public var sql: SQL {
    get throws { try select(Root.schema.layout.select, ordered: true) }
  }

  /// The SELECT that counts them; within limit and offset when there are any.
  package var countSQL: SQL {
    get throws {
      guard rowLimit == nil, rowOffset == nil else {
        let inner = try sql
        return SQL(text: "SELECT count(*) FROM (\(inner.text))", values: inner.values)
      }
      return try select(Root.schema.layout.count, ordered: false)
    }
  }

  private func select(_ start: String, ordered: Bool) throws -> SQL {
    var text = start
    var values: [Value] = []
    if let condition = try filter?.condition.get() {
      text += " WHERE \(condition.text)"
      values += condition.values
    }
    if ordered, !orders.isEmpty {
      text += " ORDER BY \(try orders.map { try $0.get() }.joined(separator: ", "))"
    }
    for count in [rowLimit, rowOffset].compactMap({ $0 }) where count < 0 {
      throw GodwitError(.invalidArgument, "a limit or offset of \(count) is negative")
    }
    if rowLimit != nil || rowOffset != nil {
      text += " LIMIT ?"
      values.append(.integer(Int64(rowLimit ?? -1)))
    }
    if let rowOffset {
      text += " OFFSET ?"
      values.append(.integer(Int64(rowOffset)))
    }
    return SQL(text: text, values: values)
  }
}

extension Query: FetchRequest {
  public func _fetch(_ connection: FetchConnection) throws -> [Root] { try connection.connection.fetch(self) }
  public func _count(_ connection: FetchConnection) throws -> Int { try connection.connection.count(self) }
  public var _tables: Set<String> { [Root.schema.table] }
}

extension Model {
  /// Every row.
  public static var all: Query<Self> { Query() }

  /// The rows that meet the condition: `Note.where { $0.views > 3 }`.
  public static func `where`(_ condition: (Fields<Self>) -> Predicate<Self>) -> Query<Self> {
    Query(filter: condition(Fields()))
  }

  /// Every row, sorted.
  public static func order<Property: ColumnValue>(
    by keyPath: KeyPath<Self, Property>, _ order: SortOrder = .ascending
  ) -> Query<Self> {
    all.order(by: keyPath, order)
  }
}
