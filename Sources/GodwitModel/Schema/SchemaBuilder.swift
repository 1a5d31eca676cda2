/// A part of a schema.
public enum SchemaElement<Root: Model>: Sendable {
  /// A column.
  case column(Column<Root>)
  /// An index.
  case index(Index<Root>)
}

/// Collects the columns and indexes of a schema.
@resultBuilder
public enum SchemaBuilder<Root: Model> {
  /// A column.
  public static func buildExpression(_ column: Column<Root>) -> SchemaElement<Root> { .column(column) }
  /// An index.
  public static func buildExpression(_ index: Index<Root>) -> SchemaElement<Root> { .index(index) }
  /// All parts in order.
  public static func buildBlock(_ elements: SchemaElement<Root>...) -> [SchemaElement<Root>] { elements }
}
