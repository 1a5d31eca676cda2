/// Collects the columns, indexes and rules of a schema. `if`, `else`, `switch` and `for` choose among them, and an
/// element may be optional; the schema is made once, so what they ask must not change while the program runs.
@resultBuilder
public enum SchemaBuilder<Root: Model> {
  /// What a ``SchemaPart`` adds to a schema.
  public enum Element: Sendable {
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

  /// A part of the schema. One function for all kinds of them: of several Swift says that none fits a part in which a
  /// property is mistyped, of one it names the property.
  public static func buildExpression<Part: SchemaPart>(_ part: Part) -> [Element] where Part.Root == Root {
    part.elements
  }

  /// All parts in order.
  public static func buildBlock(_ elements: [Element]...) -> [Element] {
    elements.flatMap { $0 }
  }
  /// The parts of an `if` without `else`.
  public static func buildOptional(_ elements: [Element]?) -> [Element] { elements ?? [] }
  /// The parts of an `if`.
  public static func buildEither(first elements: [Element]) -> [Element] { elements }
  /// The parts of an `else`.
  public static func buildEither(second elements: [Element]) -> [Element] { elements }
  /// The parts that a `for` makes, in order.
  public static func buildArray(_ elements: [[Element]]) -> [Element] {
    elements.flatMap { $0 }
  }
}
