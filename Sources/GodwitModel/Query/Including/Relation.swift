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
