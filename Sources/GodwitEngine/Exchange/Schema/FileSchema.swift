import GodwitBase
import GodwitCore
import GodwitStorage
import GodwitSyncFile

/// What a sync file says of its sender's schema, set against the one here.
enum FileSchema {
  /// Takes note of the sender's migrations, runs the additions among them and makes the tables and columns that are
  /// missing here. The catalog is read anew then. Throws `migrationMismatch` when both have run different migrations
  /// under one number.
  static func takeIn(_ header: SyncFileHeader, on writer: ReplicaWriter, isRejoining: Bool) throws {
    let connection = writer.connection
    let migrations = try MigrationHistory.decode(header.migrations)
    guard header.schemaVersion <= UInt64(migrations.count) else {
      throw ByteReader.malformed("the sender's schema version is not among its migrations")
    }
    var history = try MigrationHistory(connection)
    try history.forgetUnused(unlike: migrations, on: connection)
    try history.check(
      migrations, hint: "nothing was changed; - stands here and + in the file; bring both programs to one history")
    for migration in migrations.dropFirst(history.known.count) {
      try MigrationHistory.record(migration, appliedAt: nil, broughtBy: header.sender, on: connection)
    }
    history.add(migrations)
    // At the first contact somebody has to be believed; later a person says what runs here, by rejoining, too.
    let isFirstContact =
      history.version == 0 && header.schemaVersion > 0 && (isRejoining || writer.log.origins.othersVector.isEmpty)
      && writer.catalog.synced.allSatisfy(\.definition.isCollection)
    var version = header.schemaVersion
    if isFirstContact {
      _ = try takeOver(header, migrations, at: writer.wallClock.milliseconds(), on: connection)
      try writer.reload()
    } else {
      version = try SchemaChange(writer: writer).adoptAdditions(history)
    }
    let isAlike = header.schemaVersion == version
    try add(header.tables.filter { $0.isSynced && (isAlike || $0.isCollection) }, on: writer)
  }

  /// Makes what is missing here of tables that stand as they do at the sender, and of collections, which no migration
  /// changes.
  private static func add(_ tables: [TableDefinition], on writer: ReplicaWriter) throws {
    guard !writer.catalog.holds(tables) else { return }
    let connection = writer.connection
    let hasMade = try Catalog.adopt(tables.filter { !$0.isCollection }, on: connection)
    let isGrown = try Catalog.grow(tables, on: connection)
    let isExtended = try Catalog.extend(tables, on: connection)
    guard hasMade || isGrown || isExtended else { return }
    try writer.reload()
    // What is in the log was written without the columns.
    try writer.settle()
  }

  /// A replica without tables starts where the sender is, with the sender's tables. The steps are gone through for the
  /// local tables that they make, which no file has. Tables that no step made are in the file as the steps left them,
  /// if they travel; what is said of them is said of no table here.
  private static func takeOver(
    _ header: SyncFileHeader, _ migrations: [SchemaMigration], at now: Int64, on connection: Connection
  ) throws -> Bool {
    var draft = SchemaDraft([])
    for migration in migrations where migration.version <= header.schemaVersion {
      for step in migration.steps {
        if draft.knows(step) { try draft.apply(step) } else { draft.followRename(step) }
      }
      try MigrationHistory.record(migration, appliedAt: now, broughtBy: header.sender, on: connection)
    }
    let local = draft.tables.map(\.definition).filter { !$0.isSynced }
    return try Catalog.adopt(header.tables.filter(\.isSynced) + local, on: connection)
  }
}
