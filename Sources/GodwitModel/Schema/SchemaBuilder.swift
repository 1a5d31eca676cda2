/// A part of a schema.
public enum SchemaElement<Root: Model>: Sendable {
  /// A column.
  case column(Column<Root>)
  /// An index.
  case index(Index<Root>)
  /// A rule that rows must keep.
  case validation(Validate<Root>)
  /// The columns of the key.
  case key(Key<Root>)
  /// Columns that say when a row was made and last changed.
  case timestamps(Timestamps<Root>)
}

/// Collects the columns, indexes and rules of a schema.
@resultBuilder
public enum SchemaBuilder<Root: Model> {
  /// A column.
  public static func buildExpression(_ column: Column<Root>) -> SchemaElement<Root> { .column(column) }
  /// An index.
  public static func buildExpression(_ index: Index<Root>) -> SchemaElement<Root> { .index(index) }
  /// A rule.
  public static func buildExpression(_ rule: Validate<Root>) -> SchemaElement<Root> { .validation(rule) }
  /// The columns of the key.
  public static func buildExpression(_ key: Key<Root>) -> SchemaElement<Root> { .key(key) }
  /// Columns that say when a row was made and last changed.
  public static func buildExpression(_ timestamps: Timestamps<Root>) -> SchemaElement<Root> { .timestamps(timestamps) }
  /// All parts in order.
  public static func buildBlock(_ elements: SchemaElement<Root>...) -> [SchemaElement<Root>] { elements }
}
