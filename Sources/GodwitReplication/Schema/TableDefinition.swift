import GodwitBase

/// How a column's values are kept.
package enum ColumnType: UInt8, Hashable, Sendable, CaseIterable {
  case integer = 1
  case real = 2
  case text = 3
  case blob = 4
  /// No affinity: each value keeps the storage class it comes with.
  case any = 5
}

/// What happens to a row when the row it refers to is deleted.
public enum DeleteAction: UInt8, Hashable, Sendable, CaseIterable {
  /// The delete is refused while rows refer to it.
  case restrict = 1
  /// The referring rows are deleted too.
  case cascade = 2
  /// The referring column becomes NULL.
  case setNull = 3
}

package struct Reference: Hashable, Sendable {
  package let table: String
  package let onDelete: DeleteAction
  /// Whether rows that refer to each other may never form a circle.
  package let isAcyclic: Bool

  package init(table: String, onDelete: DeleteAction, isAcyclic: Bool = false) {
    self.table = table
    self.onDelete = onDelete
    self.isAcyclic = isAcyclic
  }
}

package struct ColumnDefinition: Hashable, Sendable {
  package let name: String
  package let type: ColumnType
  package let isNullable: Bool
  package let defaultValue: Value?
  package let reference: Reference?
  /// SQL over the column's own name that no value may make false.
  package let check: String?
  /// How concurrent writes become one value.
  package let merge: MergePolicy

  package init(
    name: String, type: ColumnType, isNullable: Bool, defaultValue: Value? = nil, reference: Reference? = nil,
    check: String? = nil, merge: MergePolicy = .lastWriterWins
  ) {
    self.name = name
    self.type = type
    self.isNullable = isNullable
    self.defaultValue = defaultValue
    self.reference = reference
    self.check = check
    self.merge = merge
  }
}

package struct IndexDefinition: Hashable, Sendable {
  package let columns: [String]
  package let isUnique: Bool

  package init(columns: [String], isUnique: Bool) {
    self.columns = columns
    self.isUnique = isUnique
  }
}

/// A table as data: what a model declares, what the catalog keeps and what a sync file carries.
/// The first `keyCount` columns are the primary key.
package struct TableDefinition: Hashable, Sendable {
  package let name: String
  package let keyCount: Int
  package let columns: [ColumnDefinition]
  package let indexes: [IndexDefinition]
  /// Whether its rows travel; a table that is not synced is never captured.
  package let isSynced: Bool
  /// Whether the database numbers new rows and never gives a number twice.
  package let numbersKeys: Bool
  /// What a delete and a write that had not seen each other come to.
  package let deletes: DeletePolicy

  package init(
    name: String, keyCount: Int, columns: [ColumnDefinition], indexes: [IndexDefinition] = [], isSynced: Bool = true,
    numbersKeys: Bool = false, deletes: DeletePolicy = .editWins
  ) throws {
    self.name = name
    self.keyCount = keyCount
    self.columns = columns
    self.indexes = indexes
    self.isSynced = isSynced
    self.numbersKeys = numbersKeys
    self.deletes = deletes
    try validate()
  }
}
