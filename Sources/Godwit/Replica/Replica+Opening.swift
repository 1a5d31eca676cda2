import Foundation
import GodwitBase
import GodwitFiles
import GodwitKeys
import GodwitModel
import GodwitCore
import GodwitEngine
import GodwitStorage
import Logging

extension Replica {
  /// Opens the replica in a folder, making what is missing: folder (0700), keyring, database (0600), tables.
  ///
  /// A new replica is the first member of a new group; use ``join(at:invitation:inviter:key:)`` to become a member of
  /// one that exists. Tables that are there are compared with the models, and altered only as the configuration's
  /// migrations allow. Tools that serve any program's data open a replica without models.
  ///
  /// - Parameters:
  ///   - path: The folder; or a working folder with a replica in its `.godwit`, where the command line makes it.
  ///   - models: The models whose tables the program uses. Tables of other programs are kept and synced all the same.
  ///   - configuration: Where the keys are, which migrations there are, and all else that has a default.
  /// - Throws: `wrongKey`, `plaintextDatabase`, `notADatabase`, `damagedDatabase`, `missingKeyring`,
  ///   `noKeyFits`, `rolledBackKeyring`, `unsafeFile`, `fileAccess`, `diskFull`, `schemaMismatch`, `invalidSchema`,
  ///   `migrationMismatch`, `invalidMigration`, `needsMigration`; `noReplica` where one must exist and does not.
  public static func open(
    at path: String, models: any Model.Type..., configuration: Configuration = Configuration()
  ) async throws -> Replica {
    try await open(at: path, models: models, configuration: configuration)
  }

  /// Opens the replica in a folder with a list of models.
  ///
  /// - Throws: As `open(at:models:configuration:)`.
  public static func open(
    at path: String, models: [any Model.Type], configuration: Configuration = Configuration()
  ) async throws -> Replica {
    try await open(at: path, models: models, configuration: configuration, wallClock: .system)
  }

  /// Opens the replica in the folder of a file URL.
  ///
  /// - Throws: `invalidArgument` for a URL that is no file's; otherwise as `open(at:models:configuration:)` with
  ///   a path.
  public static func open(
    at folder: URL, models: any Model.Type..., configuration: Configuration = Configuration()
  ) async throws -> Replica {
    guard folder.isFileURL else {
      throw GodwitError(
        .invalidArgument, "a replica is opened in a folder, and the URL's scheme is \(folder.scheme ?? "missing")",
        hint: "make the URL with URL(filePath:)")
    }
    return try await open(at: folder.path(percentEncoded: false), models: models, configuration: configuration)
  }

  /// Opens a new replica in a folder that is removed when the replica is closed. The folder is made in `parent`, by
  /// default the system's place for temporary files.
  ///
  /// - Throws: As `open(at:models:configuration:)`.
  public static func temporary(
    models: any Model.Type..., in parent: String = NSTemporaryDirectory(),
    configuration: Configuration = Configuration()
  ) async throws -> Replica {
    try await open(temporary: TemporaryFolder(in: parent), models, configuration)
  }

  /// Opens a new replica in memory, gone when it is closed. Its files, encrypted as ever, lie in a file system of the
  /// kernel's memory (`/dev/shm`), so that several connections can share them; they may be swapped out, never saved.
  ///
  /// - Throws: `fileAccess` on a system without one; otherwise as `open(at:models:configuration:)`.
  public static func inMemory(
    models: any Model.Type..., configuration: Configuration = Configuration()
  ) async throws -> Replica {
    try await open(temporary: TemporaryFolder.inMemory(), models, configuration)
  }

  private static func open(
    temporary folder: TemporaryFolder, _ models: [any Model.Type], _ configuration: Configuration
  ) async throws -> Replica {
    do {
      return try await open(
        at: folder.path, models: models, configuration: configuration, wallClock: .system, temporary: folder)
    } catch {
      folder.remove()
      throw error
    }
  }

  package static func open(
    at path: String, models: [any Model.Type], configuration: Configuration = Configuration(), wallClock: WallClock,
    incarnations: IncarnationNumbers = .random, tuning: Tuning = Tuning(), temporary: TemporaryFolder? = nil,
    lock heldLock: LockFile? = nil
  ) async throws -> Replica {
    let (logger, statements) = (configuration.logger, configuration.statements)
    let (isReadOnly, migrations) = (configuration.isReadOnly, configuration.migrations)
    try FilePath.check(path)
    let folder = ReplicaFolder(path, key: configuration.key)
    let definitions = try models.tableDefinitions()
    let mergeFunctions = models.flatMap { $0.customMerges() }
    let (changes, documentClock) = (ChangeBroadcaster(), DocumentClock(wallClock))
    let mustExist = configuration.mustExist || isReadOnly
    if mustExist { try folder.requireDatabase() }  // before the lock as well, since taking it makes the folder
    let opened = OpenedKeyring(folder, lock: heldLock) {
      if mustExist { try folder.requireDatabase() }
      return try folder.keyringOfGroup(
        name: configuration.name, postQuantum: configuration.isPostQuantum, wallClock)
    }
    let idleSeconds = configuration.idleTimeout.map { $0 / .seconds(1) }
    let pool = DatabasePool(isReadOnly: isReadOnly, idleSeconds: idleSeconds, warmsUp: true) {
      try opened.keys().connect($0, $1)
    } prepareReader: { connection in
      try register(on: connection, statements, logger)
    } makeWriter: { connection in
      try register(on: connection, statements, logger)
      // Others may have written while the files were closed.
      defer { changes.announce(.all) }
      let (contents, group) = try opened.contents()
      if connection.wasEmpty, !isReadOnly {
        try SystemTables.create(
          on: connection, group: group, replica: contents.identity.replica, incarnations: incarnations)
      }
      let generation = try knownGeneration(on: connection, of: group)
      guard !isReadOnly else {
        return ReplicaSession(reading: connection, try ForeignCommits(connection, changes, documentClock))
      }
      // Before an incarnation begins: what is refused has changed nothing.
      try KeyringRollback.check(contents, folder.keys, after: generation)
      try KeyringRollback.remember(contents, after: generation, on: connection)
      let writer = try ReplicaWriter(
        connection, group: group, anchor: folder.anchor, wallClock: wallClock, incarnations: incarnations,
        changes: changes, mergeFunctions: mergeFunctions.map { $0(connection) }, documentClock: documentClock)
      warn(of: writer, logger)
      try Migrator(writer: writer).open(definitions, migrations, progress: configuration.migrationProgress)
      return ReplicaSession(writing: writer)
    }
    do {
      try await pool.write { try check($0, opened, definitions, migrations, isReadOnly: isReadOnly) }
    } catch {
      await pool.close()
      throw opened.explain(error)
    }
    let (contents, group) = try opened.unlock()
    logger.debug("opened replica", metadata: ["path": "\(path)", "replica": "\(contents.identity.replica)"])
    return Replica(
      folder: folder, identity: contents.identity.publicIdentity, group: group, pool: pool, changes: changes,
      wallClock: wallClock, documentClock: documentClock, databaseKeys: try opened.keys(), logger: logger,
      tuning: tuning, temporary: temporary)
  }

  /// Remembers the database's salt; what a writer checks when it is made is checked here for a replica that only reads.
  private static func check(
    _ session: ReplicaSession, _ opened: OpenedKeyring, _ definitions: [TableDefinition], _ migrations: Migrations,
    isReadOnly: Bool
  ) throws {
    let (contents, _) = try opened.contents()
    try opened.keys().rememberSalt(unlessIn: contents)
    guard isReadOnly else { return }
    try KeyringRollback.check(contents, opened.folder.keys, after: KeyringRollback.known(on: session.connection))
    try Migrator.check(definitions, migrations, on: session.connection)
  }

  /// The latest generation of the keyring that the database knows, if it is one of this program's and of the group.
  private static func knownGeneration(on connection: Connection, of group: GroupID) throws -> UInt64 {
    try connection.reading {
      try SystemTables.check(on: connection, group: group)
      return try KeyringRollback.known(on: connection)
    }
  }

  private static func register(on connection: Connection, _ statements: Replica.StatementLog, _ logger: Logger) throws {
    try statements.listen(to: connection, logger: logger)
    try SetCheck.register(on: connection)
    try IntegerCheck.register(on: connection)
    try ListCheck.register(on: connection)
    try ContainsCheck.register(on: connection)
    try TruthCheck.register(on: connection)
  }

  private static func warn(of writer: ReplicaWriter, _ logger: Logger) {
    if writer.anchor.hasStartedIncarnation {
      logger.warning("the database is a copy or an earlier state: it writes under a new incarnation")
    }
    if writer.anchor.hasFoundAlteration {
      logger.warning(
        "the tables hold something else than was noted beside the keyring: pages were put back or altered")
    }
  }
}

extension ReplicaFolder {
  /// The keyring, which names a group from now on, and a database file of it.
  fileprivate func keyringOfGroup(
    name: String?, postQuantum: Bool, _ wallClock: WallClock
  ) throws -> KeyringContents {
    var contents = try settledKeyring(postQuantum: postQuantum)
    if contents.group == nil {
      contents = try foundGroup(name: name ?? MemberName.fitting(FilePath.name(of: path)), wallClock: wallClock)
    }
    try prepareDatabase(contents)
    return contents
  }
}

extension Model {
  /// The functions of its `.custom` columns.
  fileprivate static func customMerges() -> [CustomMergeFactory] { schema.customMerges }
}
