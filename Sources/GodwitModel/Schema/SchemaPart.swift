/// What a schema is made of: columns, indexes, rules, a key and timestamps. An optional one is it, or nothing.
public protocol SchemaPart<Root>: Sendable {
  /// The model that has the schema.
  associatedtype Root: Model
  /// What it adds to the schema.
  var elements: [SchemaBuilder<Root>.Element] { get }
}

extension Column: SchemaPart {
  /// The column.
  public var elements: [SchemaBuilder<Root>.Element] { [.column(self)] }
}

extension Index: SchemaPart {
  /// The index.
  public var elements: [SchemaBuilder<Root>.Element] { [.index(self)] }
}

extension Validate: SchemaPart {
  /// The rule.
  public var elements: [SchemaBuilder<Root>.Element] { [.validation(self)] }
}

extension Key: SchemaPart {
  /// The columns of the key.
  public var elements: [SchemaBuilder<Root>.Element] { [.key(self)] }
}

extension Timestamps: SchemaPart {
  /// The columns of the timestamps.
  public var elements: [SchemaBuilder<Root>.Element] { [.timestamps(self)] }
}

extension Optional: SchemaPart where Wrapped: SchemaPart {
  /// The model that has the schema.
  public typealias Root = Wrapped.Root
  /// What the part adds; nothing for nil.
  public var elements: [SchemaBuilder<Root>.Element] { self?.elements ?? [] }
}
