import GodwitBase
import GodwitModel
import GodwitCore
import GodwitStorage

/// Runs the migrations that a database has not had, inside one database transaction of the writer's.
package struct Migrator {
  let writer: ReplicaWriter

  package init(writer: ReplicaWriter) { self.writer = writer }
  private var connection: Connection { writer.connection }

  /// What opening a replica does: runs the migrations, or makes what is missing without them. Most times there is
  /// nothing to do, and nothing is locked to find that out.
  package func open(_ models: [TableDefinition], _ migrations: Migrations) throws {
    let isReady = writer.catalog.has(models)
    if migrations.isVersioned {
      let history = try MigrationHistory(connection)
      if !isReady || history.version < UInt64(migrations.all.count) { return _ = try run(migrations, models: models) }
      try Self.check(migrations.schemaMigrations(), history)
    } else if !isReady {
      try writer.inMerge {
        guard try Catalog.ensure(models, addsMissing: migrations.addsMissing, on: connection) else { return }
        try writer.reload()
        try writer.settle()
        _ = try WaitingRun.runInside(writer)
      }
    }
  }

  /// What opening a replica to read does: refuses tables that are not those of the program.
  package static func check(_ models: [TableDefinition], _ migrations: Migrations, on connection: Connection) throws {
    let all = try migrations.schemaMigrations()
    if !all.isEmpty {
      let history = try MigrationHistory(connection)
      try check(all, history)
      guard history.version >= UInt64(all.count) else {
        throw GodwitError(
          .needsMigration, "the tables are of version \(history.version), and the program's of \(all.count)",
          hint: "open the replica once to write, which runs the migrations")
      }
    }
    try Catalog.check(models, on: connection)
  }

  /// Refuses a program that has another history, or lacks a barrier that the database has passed. Additions it need not
  /// know.
  private static func check(_ all: [SchemaMigration], _ history: MigrationHistory) throws {
    try history.check(
      all,
      hint: "nothing was altered; - stands in the database and + in the program: a migration that has run is "
        + "never changed, what follows is a migration of its own")
    let barrier = history.known.prefix(Int(history.version)).dropFirst(all.count).first { !$0.isAddition }
    if let barrier {
      throw GodwitError(
        .needsMigration,
        "the tables are of version \(history.version), and the program, which knows \(all.count), lacks the barrier "
          + "\(barrier.version) \"\(barrier.name)\"", hint: "update the program")
    }
  }

  /// Brings the tables to the last version, makes local tables that are missing and compares all with the models.
  @discardableResult
  package func run(
    _ migrations: Migrations, models: [TableDefinition] = [], progress: ProgressHandler? = nil
  ) throws -> MigrationPlan {
    try writer.inMerge { try work(migrations, models, progress) }
  }

  /// Does the same, and takes it all back.
  package func plan(_ migrations: Migrations) throws -> MigrationPlan {
    struct TakenBack: Error { let plan: MigrationPlan }
    do {
      return try writer.inMerge { throw TakenBack(plan: try work(migrations, [], nil)) }
    } catch let end as TakenBack {
      return end.plan
    }
  }

  private func work(
    _ migrations: Migrations, _ models: [TableDefinition], _ progress: ProgressHandler?
  ) throws -> MigrationPlan {
    var history = try MigrationHistory(connection)
    let lastLoss = try LossLog(connection).last
    let all = try migrations.schemaMigrations()
    try history.forgetUnused(unlike: all, on: connection)
    try Self.check(all, history)
    var versions: [MigrationPlan.Version] = []
    for (migration, data) in zip(migrations.all, all) where data.version > history.version {
      do {
        versions.append(try run(data, migration, progress))
      } catch let error as GodwitError {
        throw GodwitError(
          error.code, "migration \(data.version) \"\(data.name)\" failed: \(error.message)",
          hint: error.hint ?? "nothing was altered", underlying: error)
      }
    }
    if !versions.isEmpty { try adoptAdditions(progress) }
    try Catalog.ensure(
      models, isVersioned: migrations.isVersioned, addsMissing: migrations.addsMissing, on: connection)
    if !versions.isEmpty {
      try connection.checkReferences(hint: "nothing was altered; mend the rows before the migration")
    }
    try writer.reload()
    return MigrationPlan(
      from: Int(history.version), versions: versions, losses: try LossLog(connection).list(after: lastLoss))
  }

  private func run(
    _ data: SchemaMigration, _ migration: Migration, _ progress: ProgressHandler?
  ) throws -> MigrationPlan.Version {
    let dataSteps = try DataSteps.runnable(of: migration)
    let change = SchemaChange(writer: writer)
    let (rebuild, started) = try change.run(data)
    let sync = TableSync(writer: writer)
    let aside = try started.map { try sync.setAside($0) }
    try change.rejudge(rebuild)
    let waiting = try WaitingRun.runInside(writer, progress)
    for rows in aside { _ = try sync.bringBack(rows, asOf: nil) }
    return MigrationPlan.Version(
      version: Int(data.version), name: data.name, isAddition: data.isAddition,
      broughtBy: try MigrationHistory.bringer(of: data.version, on: connection), steps: data.steps.map(\.summary),
      rebuilt: rebuild.rebuilt.map { MigrationPlan.RebuiltTable(table: $0.table, rows: $0.rows) },
      written: try run(dataSteps), released: waiting.applied, unfit: waiting.setAside)
  }

  /// Runs the additions of others that waited behind a barrier of the program's.
  private func adoptAdditions(_ progress: ProgressHandler?) throws {
    let history = try MigrationHistory(connection)
    guard try SchemaChange(writer: writer).adoptAdditions(history) > history.version else { return }
    _ = try WaitingRun.runInside(writer, progress)
  }

  /// All of a migration's data steps are one transaction of the log.
  private func run(_ steps: [DataSteps.Step]) throws -> Int {
    guard !steps.isEmpty else { return 0 }
    try connection.setTriggers(true)
    try connection.setForeignKeys(true)
    defer {
      try? connection.setTriggers(false)
      try? connection.setForeignKeys(false)
    }
    return try writer.logging { transaction in
      for step in steps { try step.run(in: transaction) }
    }
  }
}
