/// The columns of a model's primary key, for keys of several columns or with columns of a kind of their own.
///
/// ```swift
/// struct Tagging: Model {
///   static let schema = Schema<Self>("tagging") {
///     Key(
///       Column("note", \.note).references(Note.self, onDelete: .cascade),
///       Column("tag", \.tag).references(Tag.self, onDelete: .cascade))
///   }
///   var note = Note.ID()
///   var tag = Tag.ID()
///   var id: PairKey<Note.ID, Tag.ID> {
///     get { PairKey(note, tag) }
///     set { (note, tag) = (newValue.first, newValue.second) }
///   }
/// }
/// ```
///
/// ``Model/id`` is made of the same properties in the same order; anything else is `invalidSchema`. Queries compare
/// `id` with `==` and `isIn`, or the columns.
public struct Key<Root: Model>: Sendable {
  package let columns: [Column<Root>]

  /// A key of these columns, in this order.
  public init(_ columns: Column<Root>...) { self.columns = columns }
}
