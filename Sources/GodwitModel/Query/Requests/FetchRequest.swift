import GodwitBase

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

  /// Runs the request; never called by programs.
  func _fetch(_ connection: FetchConnection) throws -> [Element]

  /// Counts the rows it would find; never called by programs.
  func _count(_ connection: FetchConnection) throws -> Int

  /// The tables it reads; never called by programs.
  var _tables: Set<String> { get }

  /// When its result becomes another by time alone, in milliseconds since 1970 UTC, or nil; never called by programs.
  func _nextChange(_ connection: FetchConnection) throws -> Int64?
}

extension FetchRequest {
  /// Time changes nothing.
  public func _nextChange(_ connection: FetchConnection) throws -> Int64? { nil }
}
