import GodwitBase
import GodwitReplication

/// A column of a model's table, bound to a stored property.
///
/// The column name is what travels between replicas; the Swift name is free to change.
public struct Column<Root: Model>: Sendable {
  package let name: String
  package let access: ColumnAccess
  package let type: ColumnType
  package let isNullable: Bool
  package let defaultValue: @Sendable (Root) -> Value?
  package let keyPath: PartialKeyPath<Root> & Sendable
  /// Asked for only once both schemas stand: a model may refer to itself, or two to each other.
  package private(set) var reference: (@Sendable () -> Reference)?
  package private(set) var isUnique = false

  /// A column of the property's type; an optional property makes it nullable, any other NOT NULL.
  public init<Value: ColumnValue>(_ name: String, _ keyPath: WritableKeyPath<Root, Value> & Sendable) {
    self.name = name
    self.keyPath = keyPath
    type = ColumnType(Value.storageType)
    isNullable = Value.isNullable
    access = .of(keyPath)
    defaultValue = { root in
      guard Value.hasConstantDefault, let value = try? root[keyPath: keyPath].storedValue() else { return nil }
      return value == .null ? nil : value
    }
  }

  /// The column of the model's key.
  init(key name: String) {
    self.name = name
    keyPath = \Root.id
    type = ColumnType(Root.ID.storageType)
    isNullable = false
    access = .key(of: Root.self)
    defaultValue = { _ in nil }
  }

  /// Makes the column hold the key of another model's row.
  public func references<Target: Model>(_ target: Target.Type, onDelete: DeleteAction = .restrict) -> Self {
    var copy = self
    copy.reference = { Reference(table: Target.schema.table, onDelete: onDelete) }
    return copy
  }

  /// Lets no two rows hold the same value.
  public func unique() -> Self {
    var copy = self
    copy.isUnique = true
    return copy
  }
}

extension ColumnType {
  init(_ type: StorageType) {
    switch type {
    case .integer: self = .integer
    case .real: self = .real
    case .text: self = .text
    case .blob: self = .blob
    case .any: self = .any
    }
  }
}
