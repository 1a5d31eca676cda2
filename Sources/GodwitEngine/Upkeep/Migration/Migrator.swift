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
  ///
  /// - Parameter progress: Called with how much of what had waited for a version has been applied, from 0 to 1.
  package func open(_ models: [TableDefinition], _ migrations: Migrations, progress: ProgressHandler? = nil) throws {
    let isReady = writer.catalog.has(models)
    if migrations.isVersioned {
      let history = try MigrationHistory(connection)
      if !isReady || history.version < UInt64(migrations.all.count) {
        return _ = try run(migrations, models: models, progress: progress)
      }
      try history.requireKnown(to: migrations.schemaMigrations())
      try writer.follow(migrations.schemaMigrations())
    } else if !isReady {
      try writer.inMerge {
        guard try make(models, migrations) else { return }
        try writer.reload()
        try writer.settle()
        _ = try WaitingRun.runInside(writer, progress)
      }
    }
  }

  /// Makes the tables of models as the migrations allow. Returns whether it did anything.
  @discardableResult
  private func make(_ models: [TableDefinition], _ migrations: Migrations) throws -> Bool {
    let hasMade = try Catalog.ensure(
      models, isVersioned: migrations.isVersioned, addsMissing: migrations.addsMissing, on: connection)
    try Catalog(connection).requireTargets(of: models)
    return hasMade
  }

  /// What opening a replica to read does: refuses tables that are not those of the program.
  package static func check(_ models: [TableDefinition], _ migrations: Migrations, on connection: Connection) throws {
    let all = try migrations.schemaMigrations()
    if !all.isEmpty {
      let history = try MigrationHistory(connection)
      try history.requireKnown(to: all)
      guard history.version >= UInt64(all.count) else {
        throw GodwitError(
          .needsMigration, "the tables are of version \(history.version), and the program's of \(all.count)",
          hint: "open the replica once to write, which runs the migrations")
      }
    }
    try Catalog.check(models, on: connection)
  }

  /// Brings the tables to the last version, makes local tables that are missing and compares all with the models.
  @discardableResult
  package func run(
    _ migrations: Migrations, models: [TableDefinition] = [], progress: ProgressHandler? = nil
  ) throws -> Migrations.Plan {
    let plan = try writer.inMerge { try work(migrations, models, progress, isPlanned: false) }
    if migrations.isVersioned { try writer.follow(migrations.schemaMigrations()) }
    return plan
  }

  /// Does the same, and takes it all back.
  package func plan(_ migrations: Migrations) throws -> Migrations.Plan {
    struct TakenBack: Error { let plan: Migrations.Plan }
    do {
      return try writer.inMerge { throw TakenBack(plan: try work(migrations, [], nil, isPlanned: true)) }
    } catch let end as TakenBack {
      return end.plan
    }
  }

  private func work(
    _ migrations: Migrations, _ models: [TableDefinition], _ progress: ProgressHandler?, isPlanned: Bool
  ) throws -> Migrations.Plan {
    var history = try MigrationHistory(connection)
    let lastLoss = try LossLog(connection).last
    let all = try migrations.schemaMigrations()
    try history.forgetUnused(unlike: all, on: connection)
    try history.requireKnown(to: all)
    var versions: [Migrations.Plan.Version] = []
    let referred = try ownReferences(to: Catalog(connection).tables)
    let progress = try WaitingProgress(progress, on: connection)
    for (migration, data) in zip(migrations.all, all) where data.version > history.version {
      do {
        versions.append(try run(data, migration, progress, isPlanned: isPlanned))
      } catch let error as GodwitError {
        throw GodwitError(
          error.code, "migration \(data.version) \"\(data.name)\" failed: \(error.message)",
          hint: error.hint ?? "nothing was altered", underlying: error)
      }
    }
    if !versions.isEmpty { try adoptAdditions(progress, isPlanned: isPlanned) }
    try make(models, migrations)
    if !versions.isEmpty {
      // A table of the program's own may refer to a row that a merge has deleted; that is no matter of the migration.
      let tables = try Catalog(connection).tables
      try connection.checkReferences(
        of: tables.map(\.definition.name), hint: "nothing was altered; mend the rows before the migration")
      let names = Set(tables.map { $0.definition.name.lowercased() })
      if let (target, column) = referred.filter({ !names.contains($0.key) }).min(by: { $0.key < $1.key }) {
        throw GodwitError(
          .constraint, "\(column) of the program's own refers to table \(target), which the migrations take away",
          hint: "nothing was altered; drop that table first")
      }
    }
    try writer.reload()
    return Migrations.Plan(
      from: Int(history.version), to: Int(try MigrationHistory(connection).version), versions: versions,
      losses: try LossLog(connection).list(after: lastLoss))
  }

  /// Which of these tables those of the program's own refer to, and by which column.
  private func ownReferences(to tables: [CatalogTable]) throws -> [String: String] {
    let names = Set(tables.map { $0.definition.name.lowercased() })
    let own = try connection.tables(includingVirtual: false).filter { name in
      !names.contains(name.lowercased()) && !["godwit_", "sqlite_"].contains(where: name.lowercased().hasPrefix)
    }
    return try connection.referredTables(from: own).filter { names.contains($0.key) }
  }

  private func run(
    _ data: SchemaMigration, _ migration: Migration, _ progress: WaitingProgress, isPlanned: Bool
  ) throws -> Migrations.Plan.Version {
    let dataSteps = try DataSteps.runnable(of: migration)
    let change = SchemaChange(writer: writer)
    let (rebuild, started) = try change.run(data)
    let sync = TableSync(writer: writer)
    let aside = try started.map { try sync.setAside($0) }
    let numbers = Set(aside.map(\.number))
    try change.rejudge(rebuild, aside: numbers)
    let waiting = try WaitingRun.runInside(writer, progress.part(), aside: numbers, isPlanned: isPlanned)
    try sync.bringBack(aside, asOf: nil)
    return Migrations.Plan.Version(
      version: Int(data.version), name: data.name, isAddition: data.isAddition,
      broughtBy: try MigrationHistory.bringer(of: data.version, on: connection), steps: data.steps.map(\.summary),
      rebuilt: rebuild.rebuilt.map { Migrations.Plan.RebuiltTable(table: $0.table, rows: $0.rows) },
      written: try run(dataSteps), released: waiting.applied, unfit: waiting.setAside)
  }

  /// Runs the additions of others that waited behind a barrier of the program's.
  private func adoptAdditions(_ progress: WaitingProgress, isPlanned: Bool) throws {
    let history = try MigrationHistory(connection)
    guard try SchemaChange(writer: writer).adoptAdditions(history) > history.version else { return }
    _ = try WaitingRun.runInside(writer, progress.part(), isPlanned: isPlanned)
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

/// How much of what waits all versions of a run have applied: each applies some, and the next counts from there.
private struct WaitingProgress {
  private let staged: StagedTransactions
  private let total: Int
  private let handler: ProgressHandler?

  init(_ handler: ProgressHandler?, on connection: Connection) throws {
    self.handler = handler
    staged = StagedTransactions(connection: connection)
    total = handler == nil ? 0 : try staged.count()
  }

  /// Gets how much has been applied of what waits now.
  func part() throws -> ProgressHandler? {
    guard let handler, total > 0 else { return nil }
    let (total, left) = (Double(total), Double(try staged.count()))
    return { handler((total - left + $0 * left) / total) }
  }
}
