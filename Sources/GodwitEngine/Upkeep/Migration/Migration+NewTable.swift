import GodwitModel
import GodwitCore

extension Migration {
  /// Collects the columns and indexes of a table that a migration makes.
  public struct NewTable {
    private(set) var columns: [@Sendable () throws -> ColumnDefinition] = []
    private(set) var indexes: [IndexDefinition] = []

    init() {}

    /// A column of a property's type; an optional type makes it nullable, any other NOT NULL. It need not be a model's.
    ///
    /// - Parameters:
    ///   - name: The column's name.
    ///   - type: The type of the property, such as `Int.self` or `String?.self`; a key of another model as
    ///     `UUID?.self`.
    ///   - value: What rows hold that were written without the column.
    ///   - check: SQL over the column's own name that no value may make false.
    ///   - table: The table whose key it holds.
    ///   - onDelete: What becomes of the row when the one it refers to is deleted.
    ///   - acyclic: Whether rows that refer to each other may never form a circle.
    ///   - merge: What becomes of writes on several replicas that had not seen each other.
    public mutating func column<Content: ColumnValue>(
      _ name: String, _ type: Content.Type, default value: Content? = nil, check: String? = nil,
      references table: String? = nil, onDelete: DeleteAction = .restrict, acyclic: Bool = false,
      merge: ColumnMerge<Content> = .lastWriterWins
    ) {
      let reference = table.map { Reference(table: $0, onDelete: onDelete, isAcyclic: acyclic) }
      columns.append { try .of(name, type, default: value, check: check, reference: reference, merge: merge) }
    }

    /// An index of these columns; a unique one lets no two rows hold the same.
    public mutating func index(_ columns: String..., unique: Bool = false) {
      indexes.append(IndexDefinition(columns: columns, isUnique: unique))
    }
  }
}

extension ColumnDefinition {
  /// The column of a property's type.
  static func of<Content: ColumnValue>(
    _ name: String, _ type: Content.Type, default value: Content?, check: String?, reference: Reference? = nil,
    merge: ColumnMerge<Content> = .lastWriterWins
  ) throws -> ColumnDefinition {
    let type = ColumnType(Content.storageType)
    let stored = try value?.storedValue().stored(as: type, isKey: false)
    return ColumnDefinition(
      name: name, type: type, isNullable: Content.isNullable, defaultValue: stored == .null ? nil : stored,
      reference: reference, check: check, merge: merge.policy)
  }
}
