import GodwitModel
import GodwitCore

/// A step of a migration as data.
struct StepDraft: Sendable {
  let step: SchemaStep
  /// What a data step does; nil for one that is known from the database, or from another replica.
  let work: DataStepWork?

  init(_ step: SchemaStep, work: DataStepWork? = nil) {
    self.step = step
    self.work = work
  }
}

extension Migration {
  /// Collects the steps of a migration: what it makes, alters, takes away and writes.
  ///
  /// What is wrong with a step shows when the migrations are run or planned, as `invalidMigration` or `invalidSchema`
  /// that names the step.
  public struct Steps {
    private(set) var drafts: [@Sendable () throws -> StepDraft] = []

    init() {}

    private mutating func append(_ step: @escaping @Sendable () throws -> SchemaStep) {
      drafts.append { StepDraft(try step()) }
    }

    /// Makes the table of a model as it is now. When the model changes, so does the step, and databases that ran it are
    /// `migrationMismatch`: then write the step with its columns as they were.
    public mutating func create<Root: Model>(_ model: Root.Type) {
      append { .createTable(try model.schema.definition()) }
    }

    /// Makes a table from its columns. This is the form for programs that live long: the step stays what it is whatever
    /// becomes of the models.
    ///
    /// - Parameters:
    ///   - name: The table's name.
    ///   - keyCount: How many of the columns, from the first on, are the key.
    ///   - deletes: Whether an edit outlives a delete that had not seen it, or goes with it.
    ///   - scope: Whether the rows travel.
    ///   - content: Calls the columns, those of the key first, and the indexes.
    public mutating func create(
      _ name: String, keyCount: Int = 1, deletes: DeletePolicy = .editWins, sync scope: SyncScope = .group,
      _ content: (inout NewTable) -> Void
    ) {
      var table = NewTable()
      content(&table)
      let (columns, indexes) = (table.columns, table.indexes)
      append {
        .createTable(
          try TableDefinition(
            name: name, keyCount: keyCount, columns: columns.map { try $0() }, indexes: indexes,
            isSynced: scope == .group, deletes: deletes))
      }
    }

    /// Takes a table away, with its rows. What other replicas still write to it is passed on and shown nowhere.
    public mutating func drop(_ table: String) { append { .dropTable(table) } }

    /// Gives a table another name. References to it follow.
    public mutating func rename(_ table: String, to newName: String) { append { .renameTable(table, to: newName) } }

    /// Changes the columns and indexes of a table.
    public mutating func alter(_ table: String, _ changes: (inout Table) -> Void) {
      var altered = Table(name: table)
      changes(&altered)
      for step in altered.steps { append(step) }
    }

    /// Makes a local table travel, with the rows each replica has (`Replica.Tables.startSync(of:asOf:)`).
    public mutating func startSync(of table: String) { append { .setSynced(true, table: table) } }

    /// Makes a table stay where it is from now on, with the rows each replica has. What was written to it before and
    /// has not come yet is ignored.
    public mutating func stopSync(of table: String) { append { .setSynced(false, table: table) } }

    /// Writes rows by SQL statements, one after another, as the last part of the migration. They are what the checksum
    /// covers.
    ///
    /// What the step writes to synced tables is a transaction like any other: it is logged and travels. The step itself
    /// never does: other replicas know its name and checksum, and run it when their program brings it, or somebody
    /// gives them the migration file. Every replica runs it, after it has taken in all that others have sent it of this
    /// version. So write only what is still to do (`WHERE slug IS NULL`), and the same whatever replica does it.
    ///
    /// - Parameters:
    ///   - name: What the step is called.
    ///   - statements: The statements, each of at most 65,536 bytes; at most 1,024.
    public mutating func run(_ name: String, _ statements: SQL...) { append(.sql(statements), name) }

    /// Writes rows by the program's own code, as the last part of the migration. The checksum covers its name alone,
    /// and only the program itself can run it. What it writes travels as the rows that SQL statements write do.
    public mutating func run(_ name: String, _ body: @escaping @Sendable (Transaction) throws -> Void) {
      append(.code(body), name)
    }

    private mutating func append(_ work: DataStepWork, _ name: String) {
      drafts.append { StepDraft(.data(try work.step(named: name)), work: work) }
    }
  }
}
