import GodwitBase
import GodwitCore

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
  package private(set) var reference: (@Sendable () throws -> Reference)?
  package private(set) var isUnique = false
  package private(set) var check: String?
  package let merge: MergePolicy
  /// What a `.custom` merge runs.
  package let customMerge: CustomMergeFactory?
  /// The default that ``default(_:)`` gave, ahead of the property's own.
  package private(set) var declaredDefault: DeclaredDefault?

  /// A column of the property's type; an optional property makes it nullable, any other NOT NULL.
  ///
  /// - Parameters:
  ///   - name: The column's name, on the wire and in SQL.
  ///   - keyPath: The property.
  ///   - merge: What becomes of writes on several replicas that had not seen each other.
  public init<Value: ColumnValue>(
    _ name: String, _ keyPath: WritableKeyPath<Root, Value> & Sendable, merge: ColumnMerge<Value> = .lastWriterWins
  ) {
    self.name = name
    self.merge = merge.policy
    customMerge = merge.custom
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
    merge = .lastWriterWins
    customMerge = nil
    keyPath = \Root.id
    type = ColumnType(Root.ID.storageType)
    isNullable = false
    access = .key(of: Root.self)
    defaultValue = { _ in nil }
  }

  /// Makes the column hold the key of another model's row.
  ///
  /// - Parameters:
  ///   - target: The model; its key is one column.
  ///   - onDelete: What happens to this row when that one is deleted.
  ///   - acyclic: Whether rows may never form a circle, as in a tree: of moves on several replicas that would close
  ///     one, the latest has no effect. For an optional property that refers to its own model.
  public func references<Target: Model>(
    _ target: Target.Type, onDelete: DeleteAction = .restrict, acyclic: Bool = false
  ) -> Self {
    var copy = self
    copy.reference = {
      guard Target.schema.keyCount == 1 else {
        throw GodwitError(
          .invalidSchema, "a column refers to table \(Target.schema.table), whose key has several columns",
          hint: "refer to a model with a key of one column")
      }
      return Reference(table: Target.schema.table, onDelete: onDelete, isAcyclic: acyclic)
    }
    return copy
  }

  /// Lets no two rows hold the same value.
  public func unique() -> Self {
    var copy = self
    copy.isUnique = true
    return copy
  }

  /// Refuses every value for which the SQL is false: `Column("views", \.views).check("views >= 0")`. Only the column
  /// itself can be named, so a merge of values that each passed passes too. Several checks must all hold.
  ///
  /// The text is compiled when a replica opens with the model; one that does not compile is `invalidSchema`.
  public func check(_ sql: String) -> Self {
    var copy = self
    copy.check = check.map { "(\($0)) AND (\(sql))" } ?? sql
    return copy
  }

  /// What the column holds in rows that were written without it. Without this it is the property's value in
  /// `init()`, for types whose values there are the same every time; nil is no default.
  public func `default`(_ value: some ColumnValue) -> Self {
    var copy = self
    copy.declaredDefault = DeclaredDefault(value)
    return copy
  }
}

/// A default that a schema states.
package struct DeclaredDefault: Sendable {
  package let value: Result<Value, any Error>
  package let type: ColumnType

  init<Constant: ColumnValue>(_ value: Constant) {
    self.value = Result { try value.storedValue() }
    type = ColumnType(Constant.storageType)
  }
}

extension ColumnType {
  package init(_ type: StorageType) {
    switch type {
    case .integer: self = .integer
    case .real: self = .real
    case .text: self = .text
    case .blob: self = .blob
    case .any: self = .any
    }
  }
}
