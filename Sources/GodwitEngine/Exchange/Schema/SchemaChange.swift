import GodwitBase
import GodwitCore
import GodwitStorage

/// Makes the tables what the structural steps of one migration say, inside the writer's transaction with triggers and
/// foreign keys off.
struct SchemaChange {
  let writer: ReplicaWriter
  private var connection: Connection { writer.connection }

  /// Makes the tables what the migration's structural steps say, and records it. Returns the tables that start to
  /// travel, too.
  func run(_ data: SchemaMigration) throws -> (rebuild: SchemaRebuild, started: [TableDefinition]) {
    let before = writer.catalog
    // What is in the log is in the terms of the tables as they are now; states must be, too, before these change.
    try writer.settle()
    var draft = SchemaDraft(writer.catalog.tables.map(\.definition))
    for step in data.steps { try draft.apply(step) }
    try draft.checkReferences()
    for table in before.tables where draft.replaces(table.definition) { try requireNotStopped(table) }
    let (started, stopped) = draft.syncChanges
    for definition in stopped { try TableSync(writer: writer).release(definition) }
    let rebuild = SchemaRebuild(
      draft, to: data.version, catalog: writer.catalog, origins: writer.log.origins, on: connection)
    try rebuild.run()
    try MigrationHistory.record(data, appliedAt: writer.wallClock.milliseconds(), broughtBy: nil, on: connection)
    try writer.reload()
    try recomputeSums(rebuild, before)
    return (rebuild, started)
  }

  /// Others write to a table that was stopped here by a call, and what is kept of its rows is what they write to.
  private func requireNotStopped(_ table: CatalogTable) throws {
    guard try FormerRows.areKept(of: table.id, on: connection) else { return }
    let name = table.definition.name
    throw SchemaDraft.invalid(
      "the sync of table \(name) was stopped by a call, and a migration changes the table",
      hint: "start it first: godwit table start-sync \(name); a migration stops it by stopSync(of: \"\(name)\")")
  }

  /// Computes the sums of tables whose rows were written anew, before anything more is applied to them. An added column
  /// holds its default in each row, which counts for nothing (Specs/state-hash.md).
  private func recomputeSums(_ rebuild: SchemaRebuild, _ before: Catalog) throws {
    // A new table may have the number of one that is gone.
    let rebuilt = Set((rebuild.rebuilt.map(\.table) + rebuild.made).map { $0.lowercased() })
    let known = Set(before.synced.map(\.id))
    for table in writer.catalog.synced
    where rebuilt.contains(table.definition.name.lowercased()) || !known.contains(table.id) {
      writer.tally.recompute(table.id)
    }
    try writer.tally.flush(through: writer.log.origins.ownKey)
  }

  /// Judges the rows of the tables that it has changed.
  ///
  /// - Parameter aside: Tables whose rows come back afterwards.
  func rejudge(_ rebuild: SchemaRebuild, aside: Set<Int>) throws {
    let changed = rebuild.rebuilt.map(\.table) + rebuild.reindexed
    guard !changed.isEmpty || !rebuild.uniqueIndexes.isEmpty else { return }
    try writer.merger(aside: aside).rejudge(changed, unique: rebuild.uniqueIndexes) { table, index in
      try rebuild.make(index, of: table)
    }
  }

  // MARK: Additions of others

  /// What says that an addition cannot run here.
  private static let unfit: Set<GodwitError.Code> = [
    .invalidMigration, .invalidSchema, .schemaMismatch, .constraint, .limitExceeded, .sql,
  ]

  /// Runs the additions that others have brought and that follow on the version here, inside an import's transaction.
  /// It stops before the first barrier, and before an addition that cannot run with the tables here: what was written
  /// under its version waits. Returns the version that the tables have then.
  func adoptAdditions(_ history: MigrationHistory) throws -> UInt64 {
    var version = history.version
    for addition in history.nextAdditions {
      guard try adopt(addition) else { break }
      version = addition.version
    }
    return version
  }

  private func adopt(_ migration: SchemaMigration) throws -> Bool {
    do {
      try writer.savepoint {
        _ = try run(migration)
        guard writer.catalog.hasRoom(for: 0) else {
          throw GodwitError(.limitExceeded, "there is no room for more columns")
        }
      }
      return true
    } catch let error as GodwitError where Self.unfit.contains(error.code) {
      return false
    }
  }
}
