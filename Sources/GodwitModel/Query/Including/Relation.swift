import GodwitBase
import GodwitStorage

/// How rows of one model belong to rows of another: what can be loaded along with a query.
public protocol Relation<Root>: Sendable {
  /// The model whose rows have something.
  associatedtype Root: Model
  /// What each of them has.
  associatedtype Output: Sendable

  /// How Godwit loads it. A relation of your own that is made of another one returns that one's.
  var loader: RelationLoader<Root, Output> { get }
}

/// A relation without its type: the form in which ``Including`` loads every ``Relation``.
public struct RelationLoader<Root: Model, Output: Sendable>: Sendable {
  /// The tables that it reads; none when it may read any.
  package let tables: Set<String>
  /// What each of the rows has, in their order; in a number of statements that does not grow with the rows of a query
  /// without limit, and by one for 500 rows of a query with one.
  package let load: @Sendable ([Root], Query<Root>, Connection) throws -> [Output]

  package init(
    tables: Set<String>, load: @escaping @Sendable ([Root], Query<Root>, Connection) throws -> [Output]
  ) {
    self.tables = tables
    self.load = load
  }
}
