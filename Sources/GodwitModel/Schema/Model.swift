import GodwitBase

/// A struct whose values are rows of a table.
///
/// ```swift
/// struct Note: Model {
///   static let schema = Schema<Self>("note") {
///     Column("title", \.title)
///     Column("views", \.views)
///   }
///   var id = RecordID<Note>()
///   var title = ""
///   var views = 0
/// }
/// ```
///
/// Properties that the schema does not list are not stored; a fetched value has them as `init()` made them.
public protocol Model: Sendable, Identifiable where ID: ModelKey {
  /// The table, its columns and indexes.
  static var schema: Schema<Self> { get }
  /// The primary key.
  var id: ID { get set }
  /// A value with every property at its default; fetched rows are read into a copy of it.
  init()
}

/// A type that can be a primary key: one column, compared by its stored bytes.
public protocol ModelKey: ColumnValue, Hashable {}
