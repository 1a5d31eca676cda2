import GodwitBase
import GodwitModel
import GodwitCore
import GodwitEngine
import GodwitStorage

/// A request for documents of a collection: a value, which runs when a replica, a reader or a transaction is asked
/// for it, or observes. A collection that is absent has none.
public struct DocumentRequest<Element: Sendable>: RunnableRequest {
  package let address: CollectionAddress
  let clock: DocumentClock
  let read: @Sendable (Statement, CollectionShape) throws -> Element
  /// What it selects. An observation compares just that.
  private let columns: String
  private(set) var condition: Result<Document.Condition?, GodwitError> = .success(nil)
  private(set) var orders: Result<[Document.Order], GodwitError> = .success([])
  private(set) var limit: Int?
  private(set) var offset = 0
  /// By which instant documents are expired; by that of each run when nil.
  private var instant: Int64?

  package init(
    _ address: CollectionAddress, _ clock: DocumentClock, columns: String = "*",
    read: @escaping @Sendable (Statement, CollectionShape) throws -> Element
  ) {
    self.address = address
    self.clock = clock
    self.columns = columns
    self.read = read
  }

  // MARK: Building

  /// Only documents that meet the condition, too.
  public func `where`(_ build: (Document.Fields) -> Document.Condition) -> Self {
    adding(.success(build(Document.Fields())))
  }

  /// Only documents that meet the condition, too: `"price > 3 and tags contains 'new' or stock = 0"`. What does not
  /// parse shows as `invalidArgument` when the request runs.
  public func `where`(_ text: String) -> Self { adding(Result.godwit { try DocumentConditionParser.condition(text) }) }

  private func adding(_ more: Result<Document.Condition, GodwitError>) -> Self {
    var copy = self
    copy.condition = Result.godwit {
      guard let here = try condition.get() else { return try more.get() }
      return here && (try more.get())
    }
    return copy
  }

  /// In this order, after the orders given before: `"name, date desc"`; documents that none distinguishes go by key.
  public func order(by text: String) -> Self { ordering(Result.godwit { try DocumentConditionParser.orders(text) }) }

  /// In this order, after the orders given before; documents that none distinguishes go by key.
  public func order(by orders: Document.Order...) -> Self { ordering(.success(orders)) }

  private func ordering(_ more: Result<[Document.Order], GodwitError>) -> Self {
    var copy = self
    copy.orders = Result.godwit { try orders.get() + more.get() }
    return copy
  }

  /// At most that many documents; a negative limit is `invalidArgument` when the request runs.
  public func limit(_ count: Int) -> Self {
    var copy = self
    copy.limit = count
    return copy
  }

  /// Without the first so many documents; a negative number is `invalidArgument` when the request runs.
  public func offset(_ count: Int) -> Self {
    var copy = self
    copy.offset = count
    return copy
  }

  /// The same for runs that are to agree: what expires between them stays in.
  package var atOneInstant: Self {
    var copy = self
    copy.instant = clock.now
    return copy
  }

  /// The same for another form of its documents, which is read from all columns or some.
  package func reading<Other: Sendable>(
    _ columns: String = "*", _ read: @escaping @Sendable (Statement, CollectionShape) throws -> Other
  ) -> DocumentRequest<Other> {
    var other = DocumentRequest<Other>(address, clock, columns: columns, read: read)
    other.condition = condition
    other.orders = orders
    other.limit = limit
    other.offset = offset
    other.instant = instant
    return other
  }

  // MARK: SQL

  /// The SELECT, for a collection that has all the members it names. Members that are declared as counters or sets it
  /// takes for others: it sees what stands in the column of their name, and not what was counted or collected.
  public var sql: SQL { get throws { try select(columns, nil) } }

  /// SQLite takes 2,000 terms.
  private static var orderLimit: Int { 1_000 }

  /// - Parameter isOrdered: Whether it matters in which order they come; with a limit or offset it does.
  func select(_ what: String, _ shape: CollectionShape?, isOrdered: Bool = true) throws -> SQL {
    if let error = GodwitError.negative(min(limit ?? 0, offset)) { throw error }
    var sql = DocumentSQL(shape)
    sql.add("SELECT \(what) FROM \(SQLName.quoted(try address.table())) WHERE ")
    try addCondition(to: &sql)
    let orders = try orders.get()
    guard orders.count <= Self.orderLimit else {
      throw GodwitError(
        .limitExceeded, "the request has \(orders.count) orders; \(Self.orderLimit) are allowed",
        hint: "order by fewer members")
    }
    let terms = try orders.map { "\(try sql.order($0.reference))\($0.isDescending ? " DESC" : "")" }
    if isOrdered || limit != nil || offset > 0 {
      sql.add(" ORDER BY \((terms + [SQLName.quoted(CollectionTable.keyColumn)]).joined(separator: ", "))")
    }
    if limit != nil || offset > 0 {
      sql.add(" LIMIT ")
      sql.bind(.integer(Int64(limit ?? -1)))
      sql.add(" OFFSET ")
      sql.bind(.integer(Int64(offset)))
    }
    return try sql.sql()
  }

  private static var expiry: String { SQLName.quoted(CollectionTable.expiryColumn) }

  private func addCondition(to sql: inout DocumentSQL, expires: Bool = false) throws {
    sql.add("(\(expires ? "" : "\(Self.expiry) IS NULL OR ")\(Self.expiry) > ")
    sql.bind(.integer(instant ?? clock.now))
    sql.add(")")
    guard let condition = try condition.get() else { return }
    sql.add(" AND ")
    try sql.add(condition.node)
  }

  /// Deletes in place of selecting; order and limit count as they do there.
  package func deletion(_ shape: CollectionShape) throws -> SQL {
    let keys = try select(SQLName.quoted(CollectionTable.keyColumn), shape, isOrdered: false)
    return SQL(
      text: "DELETE FROM \(SQLName.quoted(try address.table())) WHERE "
        + "\(SQLName.quoted(CollectionTable.keyColumn)) IN (\(keys.text))", values: keys.values)
  }

  /// The instant at which the first document that meets the condition expires.
  private func firstExpiry(_ shape: CollectionShape) throws -> SQL {
    var sql = DocumentSQL(shape)
    sql.add("SELECT \(Self.expiry) FROM \(SQLName.quoted(try address.table())) WHERE ")
    try addCondition(to: &sql, expires: true)
    sql.add(" ORDER BY \(Self.expiry) LIMIT 1")
    return try sql.sql()
  }

  // MARK: Running

  /// How Godwit runs it.
  public var request: Request<Element> { Request(self) }

  package var tables: Set<String> { (try? address.table()).map { [$0] } ?? [] }

  package func fetch(on connection: Connection) throws -> [Element] {
    guard let shape = try shape(on: connection) else { return [] }
    var elements: [Element] = []
    try step(try select(columns, shape), on: connection) { elements.append(try read($0, shape)) }
    return elements
  }

  /// The collection as it is; nil when it is absent. What does not parse is an error either way.
  private func shape(on connection: Connection) throws -> CollectionShape? {
    try clock.look(at: connection)
    if let shape = try CollectionShape.current(of: address, on: connection) { return shape }
    try check()
    return nil
  }

  /// Throws for a condition or an order that is none.
  package func check() throws { _ = try select("*", nil) }

  private func step(_ sql: SQL, on connection: Connection, _ body: (Statement) throws -> Void) throws {
    try connection.withStatement(sql.text) { statement in
      try statement.bind(sql.values)
      while try statement.step() { try body(statement) }
    }
  }

  /// Passes on one document after another. What SQLite sorts it has in memory, so documents in an order of
  /// their own are sorted by their keys alone, and then read.
  package func forEach(on connection: Connection, _ sink: RowSink<Element>) throws {
    guard let shape = try shape(on: connection) else { return }
    guard try !orders.get().isEmpty else {
      return try step(try select(columns, shape), on: connection) { try sink.take(read($0, shape)) }
    }
    try connection.withStatement(address.selectByKey()) { document in
      try step(try select(SQLName.quoted(CollectionTable.keyColumn), shape), on: connection) { keys in
        try document.bind(keys.text(at: 0), at: 1)
        if try document.step() { try sink.take(read(document, shape)) }
        document.reset()
      }
    }
  }

  /// When the first of them expires.
  package func nextChange(on connection: Connection) throws -> Int64? {
    guard let shape = try shape(on: connection) else { return nil }
    let sql = try firstExpiry(shape)
    return try connection.scalar(sql.text, sql.values).flatMap(DocumentReading.expiry)
  }

  package func count(on connection: Connection) throws -> Int {
    guard let shape = try shape(on: connection) else { return 0 }
    let sql = try select("1", shape, isOrdered: false)
    let count = try connection.scalar("SELECT count(*) FROM (\(sql.text))", sql.values)
    guard case .integer(let number)? = count else { return 0 }
    return Int(number)
  }
}

extension Result where Failure == GodwitError {
  static func godwit(_ body: () throws -> Success) -> Self {
    do {
      return .success(try body())
    } catch {
      return .failure(
        (error as? GodwitError) ?? GodwitError(.invalidArgument, "the request is none", underlying: error))
    }
  }
}
