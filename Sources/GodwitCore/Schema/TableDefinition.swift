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

  /// The same reference to a table that has another name now.
  package func retargeted(to table: String) -> Reference {
    Reference(table: table, onDelete: onDelete, isAcyclic: isAcyclic)
  }
}

package struct ColumnDefinition: Hashable, Sendable {
  package var name: String
  package var type: ColumnType
  package var isNullable: Bool
  package var defaultValue: Value?
  package var reference: Reference?
  /// SQL over the column's own name that no value may make false.
  package var check: String?
  /// How concurrent writes become one value.
  package var merge: MergePolicy

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
  package var columns: [String]
  package let isUnique: Bool

  package init(columns: [String], isUnique: Bool) {
    self.columns = columns
    self.isUnique = isUnique
  }
}

/// A table as data: what a model declares, what the catalog keeps and what a sync file carries.
/// The first `keyCount` columns are the primary key.
package struct TableDefinition: Hashable, Sendable {
  package internal(set) var name: String
  package internal(set) var keyCount: Int
  package internal(set) var columns: [ColumnDefinition]
  package internal(set) var indexes: [IndexDefinition]
  /// Whether its rows travel; a table that is not synced is never captured.
  package internal(set) var isSynced: Bool
  /// Whether the database numbers new rows and never gives a number twice.
  package internal(set) var numbersKeys: Bool
  /// What a delete and a write that had not seen each other come to.
  package internal(set) var deletes: DeletePolicy

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

  /// The table with more columns and indexes behind those it has.
  package func adding(_ columns: [ColumnDefinition], _ indexes: [IndexDefinition]) throws -> TableDefinition {
    var table = self
    table.columns += columns
    table.indexes += indexes
    try table.validate()
    return table
  }

  /// The same table for a program that merges nothing.
  package var withoutMerges: TableDefinition {
    var plain = self
    for column in columns.indices { plain.columns[column].merge = .lastWriterWins }
    return plain
  }

  /// The table with a column of another type.
  package func setting(_ type: ColumnType, ofColumn number: Int) throws -> TableDefinition {
    var table = self
    table.columns[number].type = type
    try table.validate()
    return table
  }

  /// The table as one whose rows travel, or stay.
  package func setting(isSynced: Bool) throws -> TableDefinition {
    var table = self
    table.isSynced = isSynced
    try table.validate()
    return table
  }
}
