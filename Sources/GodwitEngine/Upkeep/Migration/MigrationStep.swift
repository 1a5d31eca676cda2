import GodwitModel
import GodwitCore

/// A step of a migration: ``CreateTable``, ``DropTable``, ``RenameTable``, ``AddColumn``, ``DropColumn``,
/// ``RenameColumn``, ``ChangeColumn``, ``AddIndex``, ``DropIndex``, ``StartSync``, ``StopSync`` or ``DataStep``.
public protocol MigrationStep: Sendable {
  /// The step as data; never written by hand.
  func _draft() throws -> MigrationStepDraft
}

/// A step as data; never made by programs.
public struct MigrationStepDraft: Sendable {
  let step: SchemaStep
  /// What a data step does; nil for one that is known from the database, or from another replica.
  let work: DataStepWork?

  init(_ step: SchemaStep, work: DataStepWork? = nil) {
    self.step = step
    self.work = work
  }
}

/// A column that a migration makes. Its Swift type says how it is stored, as in a model; it need not be a model's.
public struct NewColumn: Sendable {
  let definition: @Sendable () throws -> ColumnDefinition

  /// A column of a property's type; an optional type makes it nullable, any other NOT NULL.
  ///
  /// - Parameters:
  ///   - name: The column's name.
  ///   - type: The type of the property, such as `Int.self` or `String?.self`; a key of another model as `UUID?.self`.
  ///   - value: What rows hold that were written without the column.
  ///   - check: SQL over the column's own name that no value may make false.
  ///   - table: The table whose key it holds.
  ///   - onDelete: What becomes of the row when the one it refers to is deleted.
  ///   - acyclic: Whether rows that refer to each other may never form a circle.
  ///   - merge: What becomes of writes on several replicas that had not seen each other.
  public init<Content: ColumnValue>(
    _ name: String, _ type: Content.Type, default value: Content? = nil, check: String? = nil,
    references table: String? = nil, onDelete: DeleteAction = .restrict, acyclic: Bool = false,
    merge: ColumnMerge<Content> = .lastWriterWins
  ) {
    definition = {
      let type = ColumnType(Content.storageType)
      let stored = try value?.storedValue().stored(as: type, isKey: false)
      return ColumnDefinition(
        name: name, type: type, isNullable: Content.isNullable,
        defaultValue: stored == .null ? nil : stored,
        reference: table.map { Reference(table: $0, onDelete: onDelete, isAcyclic: acyclic) }, check: check,
        merge: merge.policy)
    }
  }
}

/// Makes a table.
public struct CreateTable: MigrationStep {
  private let definition: @Sendable () throws -> TableDefinition

  /// Makes a table from its columns. This is the form for programs that live long: the step stays what it is whatever
  /// becomes of the models.
  ///
  /// - Parameters:
  ///   - name: The table's name.
  ///   - columns: The columns, those of the key first.
  ///   - keyCount: How many of them are the key.
  ///   - unique: The columns of each index that lets no two rows hold the same.
  ///   - indexes: The columns of each other index.
  ///   - deletes: Whether an edit outlives a delete that had not seen it, or goes with it.
  ///   - scope: Whether the rows travel.
  public init(
    _ name: String, _ columns: [NewColumn], keyCount: Int = 1, unique: [[String]] = [], indexes: [[String]] = [],
    deletes: DeletePolicy = .editWins, sync scope: SyncScope = .group
  ) {
    definition = {
      try TableDefinition(
        name: name, keyCount: keyCount, columns: columns.map { try $0.definition() },
        indexes: unique.map { IndexDefinition(columns: $0, isUnique: true) }
          + indexes.map { IndexDefinition(columns: $0, isUnique: false) },
        isSynced: scope == .group, deletes: deletes)
    }
  }

  /// Makes the table of a model as it is now. When the model changes, so does the step, and databases that ran it are
  /// `migrationMismatch`: then write the step with its columns as they were.
  public init<Root: Model>(_ model: Root.Type) {
    definition = { try model.schema.definition() }
  }

  /// The step as data.
  public func _draft() throws -> MigrationStepDraft { MigrationStepDraft(.createTable(try definition())) }
}

/// Takes a table away, with its rows. What other replicas still write to it is passed on and shown nowhere.
public struct DropTable: MigrationStep {
  private let name: String
  /// The table.
  public init(_ name: String) { self.name = name }
  /// The step as data.
  public func _draft() throws -> MigrationStepDraft { MigrationStepDraft(.dropTable(name)) }
}

/// Gives a table another name. References to it follow.
public struct RenameTable: MigrationStep {
  private let name: String
  private let newName: String
  /// The table and its new name.
  public init(_ name: String, to newName: String) { (self.name, self.newName) = (name, newName) }
  /// The step as data.
  public func _draft() throws -> MigrationStepDraft { MigrationStepDraft(.renameTable(name, to: newName)) }
}

/// Makes a local table travel, with the rows each replica has (`Replica.Tables.startSync(of:asOf:)`).
public struct StartSync: MigrationStep {
  private let table: String
  /// The table.
  public init(_ table: String) { self.table = table }
  /// The step as data.
  public func _draft() throws -> MigrationStepDraft { MigrationStepDraft(.setSynced(true, table: table)) }
}

/// Makes a table stay where it is from now on, with the rows each replica has. What was written to it before and has
/// not come yet is ignored.
public struct StopSync: MigrationStep {
  private let table: String
  /// The table.
  public init(_ table: String) { self.table = table }
  /// The step as data.
  public func _draft() throws -> MigrationStepDraft { MigrationStepDraft(.setSynced(false, table: table)) }
}

/// Makes an index.
public struct AddIndex: MigrationStep {
  private let index: IndexDefinition
  private let table: String

  /// An index of these columns; with `isUnique` no two rows may hold the same.
  public init(_ columns: String..., to table: String, isUnique: Bool = false) {
    index = IndexDefinition(columns: columns, isUnique: isUnique)
    self.table = table
  }

  /// The step as data.
  public func _draft() throws -> MigrationStepDraft { MigrationStepDraft(.addIndex(index, table: table)) }
}

/// Takes an index away.
public struct DropIndex: MigrationStep {
  private let columns: [String]
  private let table: String
  /// The index of exactly these columns.
  public init(_ columns: String..., from table: String) { (self.columns, self.table) = (columns, table) }
  /// The step as data.
  public func _draft() throws -> MigrationStepDraft { MigrationStepDraft(.dropIndex(columns, table: table)) }
}
