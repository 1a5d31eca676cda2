import GodwitBase
import GodwitModel
import GodwitStorage

/// One state of the database, to read from. It lives as long as the closure it is handed to.
public class Reader {
  package let connection: Connection
  private var hasEnded = false

  package init(_ connection: Connection) { self.connection = connection }

  package func end() { hasEnded = true }

  package func checkIsOpen() throws {
    guard !hasEnded, connection.isInTransaction else {
      throw GodwitError(
        .transactionEnded, "the transaction has ended",
        hint: "a reader or transaction serves only inside the closure it is given to")
    }
  }

  /// The rows a request finds: models, tuples, joined rows. Linear in their number.
  ///
  /// - Throws: `notInSchema` for a property that is no column, `valueMismatch` when a stored value does not fit
  ///   its property.
  public func fetch<Request: FetchRequest>(_ request: Request) throws -> [Request.Element] {
    try checkIsOpen()
    return try request.request.fetch(on: connection)
  }

  /// Calls the body with each row that a request finds, one after another, so that few are in memory. Linear in their
  /// number.
  ///
  /// Of documents in an order of their own the keys are in memory, all of them, and of rows with what belongs to them
  /// 500 at a time. Whether the body meets rows that it writes itself is open.
  ///
  /// - Throws: What the body throws, and what ``fetch(_:)`` does.
  public func forEach<Request: FetchRequest>(
    _ request: Request, _ body: (Request.Element) throws -> Void
  ) throws {
    try checkIsOpen()
    try RowSink.with(body) { try request.request.forEach(on: connection, $0) }
  }

  /// The model with this key, or nil.
  public func fetch<Root: Model>(_ type: Root.Type, key: Root.ID) throws -> Root? {
    try checkIsOpen()
    return try connection.fetch(type, key: key)
  }

  /// The first row a request finds, or nil.
  public func first<Request: FetchRequest>(_ request: Request) throws -> Request.Element? {
    try fetch(request.limit(1)).first
  }

  /// How many rows a request finds.
  public func count(_ request: some FetchRequest) throws -> Int {
    try checkIsOpen()
    return try request.request.count(on: connection)
  }

  /// The rows of a query in SQL; its interpolated values are bound.
  ///
  /// - Throws: `sql` when it does not compile, `notAuthorized` when it writes or reaches beyond the database.
  public func rows(_ sql: SQL) throws -> [Row] {
    try checkIsOpen()
    return try connection.rows(sql)
  }
}
