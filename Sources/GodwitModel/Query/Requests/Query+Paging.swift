import GodwitBase

extension Query {
  /// The row with this key.
  package static func row(_ key: Root.ID) -> Query {
    Query().with { statement in
      statement.add(SQLExpression(keys: Fields<Root>().keyColumns, SQLPart.columns(of: key), "="))
    }
  }

  /// The next rows by key: at most `limit` of those whose key is greater than `key`, or of the first when it is nil.
  ///
  /// ```swift
  /// var last: Note.ID?
  /// while case let notes = try await replica.fetch(Note.all.page(after: last, limit: 500)), !notes.isEmpty {
  ///   last = notes.last?.id
  /// }
  /// ```
  ///
  /// The rows are in the order of their keys as they are stored. Each page costs what its own rows do, wherever it
  /// begins, where an offset reads what it skips; and rows that come or go between two pages move no others.
  ///
  /// A query with an order, a limit or an offset of its own has no pages: `invalidArgument` when it runs.
  public func page(after key: Root.ID? = nil, limit: Int) -> Query {
    with { statement in
      if !statement.orders.isEmpty || statement.limit != nil || statement.offset != nil {
        let error = GodwitError(
          .invalidArgument, "a page is cut by the key, and the query has an order, a limit or an offset",
          hint: "leave them out, or use limit and offset instead of a page")
        return statement.add(SQLExpression<Bool>([.failure(error)]))
      }
      let columns = Fields<Root>().keyColumns
      if let key { statement.add(Self.isBeyond(SQLPart.columns(of: key)[...], columns[...])) }
      statement.orders = columns.map { OrderTerm(expression: [$0], direction: "") }
      statement.limit = limit
    }
  }

  /// `first >= ? AND (first > ? OR …)`: an index serves the first half.
  private static func isBeyond(_ key: ArraySlice<SQLPart>, _ columns: ArraySlice<SQLPart>) -> SQLExpression<Bool> {
    guard let value = key.first, let column = columns.first else { return SQLExpression<Bool>([.text("0")]) }
    let isGreater = SQLExpression<Bool>([column, .text(" > "), value], .comparison)
    guard columns.count > 1 else { return isGreater }
    let isSame = SQLExpression<Bool>([column, .text(" >= "), value], .comparison)
    return isSame && (isGreater || isBeyond(key.dropFirst(), columns.dropFirst()))
  }
}

extension Model {
  /// The next rows by key, as ``Query/page(after:limit:)`` of every row has them.
  public static func page(after key: ID? = nil, limit: Int) -> Query<Self> { all.page(after: key, limit: limit) }
}

extension SQLPart {
  /// What the columns of a key hold.
  fileprivate static func columns(of key: some ModelKey) -> [SQLPart] {
    let part = stored(key)
    if case .key(let values) = part { return values }
    return [part]
  }
}
