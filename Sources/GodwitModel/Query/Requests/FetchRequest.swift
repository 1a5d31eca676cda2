import GodwitBase
import GodwitStorage

/// Something that can be fetched: a query, a selection of columns, a join. A value; it runs only when a reader, a
/// transaction or a replica is asked for it.
public protocol FetchRequest<Element>: Sendable {
  /// What one row becomes.
  associatedtype Element: Sendable

  /// The SELECT that is run, with its bound values; what a person would write.
  ///
  /// - Throws: `notInSchema` for a property that is no column, `valueNotStorable` for a value that cannot be compared,
  ///   `invalidArgument` for a negative limit or offset.
  var sql: SQL { get throws }

  /// The same request for at most that many rows.
  func limit(_ count: Int) -> Self

  /// How Godwit runs it. A request of your own that is made of another one returns that one's.
  var request: Request<Element> { get }
}

/// A request without its type: the form in which readers and observers run every ``FetchRequest``.
public struct Request<Element: Sendable>: Sendable {
  private let base: any RunnableRequest<Element>

  package init(_ base: any RunnableRequest<Element>) { self.base = base }

  /// The rows that it finds.
  package func fetch(on connection: Connection) throws -> [Element] { try base.fetch(on: connection) }

  /// Passes on one row after another, so that few are in memory.
  package func forEach(on connection: Connection, _ sink: RowSink<Element>) throws {
    try base.forEach(on: connection, sink)
  }

  /// How many rows it finds.
  package func count(on connection: Connection) throws -> Int { try base.count(on: connection) }

  /// The tables that it reads; none when it may read any.
  package var tables: Set<String> { base.tables }

  /// When its result becomes another by time alone, in milliseconds since 1970 UTC, or nil.
  package func nextChange(on connection: Connection) throws -> Int64? { try base.nextChange(on: connection) }
}

extension Request: FetchRequest {
  /// The SELECT that is run, with its bound values; throws as ``FetchRequest/sql`` says.
  public var sql: SQL { get throws { try base.sql } }
  /// The same for at most that many rows.
  public func limit(_ count: Int) -> Self { Self(base.limit(count)) }
  /// Itself.
  public var request: Self { self }
}

/// A request that runs itself.
package protocol RunnableRequest<Element>: FetchRequest {
  /// The rows that it finds.
  func fetch(on connection: Connection) throws -> [Element]
  /// Passes on one row after another, so that few are in memory.
  func forEach(on connection: Connection, _ sink: RowSink<Element>) throws
  /// How many rows it finds.
  func count(on connection: Connection) throws -> Int
  /// The tables that it reads; none when it may read any.
  var tables: Set<String> { get }
  /// When its result becomes another by time alone, in milliseconds since 1970 UTC, or nil.
  func nextChange(on connection: Connection) throws -> Int64?
}

extension RunnableRequest {
  package func fetch(on connection: Connection) throws -> [Element] {
    var elements: [Element] = []
    try RowSink.with({ elements.append($0) }) { try forEach(on: connection, $0) }
    return elements
  }

  /// Time changes nothing.
  package func nextChange(on connection: Connection) throws -> Int64? { nil }
}

/// Where rows go one by one. A class and no closure: Swift 6.3 passes a tuple that has a parameter pack to a method of
/// a generic class as it is, and a program crashes where it passes one to a closure that was converted.
package final class RowSink<Element> {
  private let body: (Element) throws -> Void

  private init(_ body: @escaping (Element) throws -> Void) { self.body = body }

  /// Lends a sink that calls the body with each row.
  package static func with(_ body: (Element) throws -> Void, _ use: (RowSink) throws -> Void) throws {
    try withoutActuallyEscaping(body) { try use(RowSink($0)) }
  }

  package func take(_ row: Element) throws { try body(row) }
}
