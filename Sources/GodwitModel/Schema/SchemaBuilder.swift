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

/// Collects the columns, indexes and rules of a schema. `if`, `else`, `switch` and `for` choose among them, and an
/// element may be optional; the schema is made once, so what they ask must not change while the program runs.
@resultBuilder
public enum SchemaBuilder<Root: Model> {
  /// A column.
  public static func buildExpression(_ column: Column<Root>) -> [SchemaElement<Root>] { [.column(column)] }
  /// An index.
  public static func buildExpression(_ index: Index<Root>) -> [SchemaElement<Root>] { [.index(index)] }
  /// A rule.
  public static func buildExpression(_ rule: Validate<Root>) -> [SchemaElement<Root>] { [.validation(rule)] }
  /// The columns of the key.
  public static func buildExpression(_ key: Key<Root>) -> [SchemaElement<Root>] { [.key(key)] }
  /// Columns that say when a row was made and last changed.
  public static func buildExpression(_ timestamps: Timestamps<Root>) -> [SchemaElement<Root>] {
    [.timestamps(timestamps)]
  }

  /// A column, or nothing.
  @_disfavoredOverload
  public static func buildExpression(_ column: Column<Root>?) -> [SchemaElement<Root>] {
    column.map { [.column($0)] } ?? []
  }
  /// An index, or nothing.
  @_disfavoredOverload
  public static func buildExpression(_ index: Index<Root>?) -> [SchemaElement<Root>] {
    index.map { [.index($0)] } ?? []
  }
  /// A rule, or nothing.
  @_disfavoredOverload
  public static func buildExpression(_ rule: Validate<Root>?) -> [SchemaElement<Root>] {
    rule.map { [.validation($0)] } ?? []
  }
  /// The columns of the key, or nothing.
  @_disfavoredOverload
  public static func buildExpression(_ key: Key<Root>?) -> [SchemaElement<Root>] { key.map { [.key($0)] } ?? [] }
  /// Columns that say when a row was made and last changed, or nothing.
  @_disfavoredOverload
  public static func buildExpression(_ timestamps: Timestamps<Root>?) -> [SchemaElement<Root>] {
    timestamps.map { [.timestamps($0)] } ?? []
  }

  /// All parts in order.
  public static func buildBlock(_ elements: [SchemaElement<Root>]...) -> [SchemaElement<Root>] {
    elements.flatMap { $0 }
  }
  /// The parts of an `if` without `else`.
  public static func buildOptional(_ elements: [SchemaElement<Root>]?) -> [SchemaElement<Root>] { elements ?? [] }
  /// The parts of an `if`.
  public static func buildEither(first elements: [SchemaElement<Root>]) -> [SchemaElement<Root>] { elements }
  /// The parts of an `else`.
  public static func buildEither(second elements: [SchemaElement<Root>]) -> [SchemaElement<Root>] { elements }
  /// The parts that a `for` makes, in order.
  public static func buildArray(_ elements: [[SchemaElement<Root>]]) -> [SchemaElement<Root>] {
    elements.flatMap { $0 }
  }
}
