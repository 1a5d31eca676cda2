import GodwitBase
import GodwitEngine
import GodwitStorage

extension Replica {
  /// The migrations of a replica's tables: which ran, which are known, and what others would do.
  public struct MigrationRoom: Sendable {
    let replica: Replica
  }

  /// The migrations of the replica's tables.
  public var migrations: MigrationRoom { MigrationRoom(replica: self) }
}

extension Replica.MigrationRoom {
  /// What the migrations would do: runs all that this database has not had, and takes everything back. It holds up
  /// writers for as long as the migrations take.
  ///
  /// - Throws: What ``run(_:progress:)`` throws.
  public func plan(_ migrations: Migrations) async throws -> Migrations.Plan {
    try await replica.withWriter { try Migrator(writer: $0).plan(migrations) }
  }

  /// Runs the migrations that this database has not had, all or none: for replicas whose application is elsewhere.
  /// Programs pass theirs when they open the replica. Of ``known()`` those with data steps cannot be run: SQL
  /// and code never come from other replicas.
  ///
  /// - Throws: `migrationMismatch` when another migration ran under one of the numbers; `invalidMigration` for one that
  ///   the tables cannot go through; `needsMigration` when the tables are newer by a barrier, or a data step is only
  ///   known by its name; `constraint`, `sql`, `diskFull`. Nothing has changed then.
  /// - Parameters:
  ///   - migrations: All of the program's, those that have run included.
  ///   - progress: Called with how much of what waits has been applied, from 0 to 1. What waits for more than these
  ///     migrations counts as done in the end.
  @discardableResult
  public func run(_ migrations: Migrations, progress: ProgressHandler? = nil) async throws -> Migrations.Plan {
    let plan = try await replica.withWriter { try Migrator(writer: $0).run(migrations, progress: progress) }
    progress?(1)
    return plan
  }

  /// Which migrations ran here, and which are known from other replicas.
  public func status() async throws -> Migrations.Status {
    try await replica.pool.read { connection in
      let history = try MigrationHistory(connection)
      return Migrations.Status(
        version: Int(history.version),
        migrations: try zip(history.known, history.times).map { migration, time in
          Migrations.Status.Entry(
            version: Int(migration.version), name: migration.name, isAddition: migration.isAddition,
            checksum: migration.checksum.hexadecimal,
            appliedAt: time, broughtBy: try MigrationHistory.bringer(of: migration.version, on: connection),
            steps: migration.steps.map(\.summary))
        }, held: try StagedTransactions(connection: connection).held(beyond: history))
    }
  }

  /// The migrations that this database knows: those it ran, and those that came with sync files. Data steps stand
  /// in them by name and checksum alone.
  public func known() async throws -> Migrations {
    try await replica.pool.read { Migrations(try MigrationHistory($0).known.map(Migration.init)) }
  }

  /// All values that migrations could not keep exactly, in rows and in changes that came later, in the order they were
  /// found.
  public func losses() async throws -> [MigrationLoss] {
    try await replica.pool.read { try LossLog($0).list() }
  }
}
