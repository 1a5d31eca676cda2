import Foundation
import GodwitBase
import GodwitKeys
import GodwitModel
import GodwitReplication
import GodwitStorage
import Logging

/// One copy of a group's data: an encrypted database with its change log, in a folder of its own.
///
/// Writes run one after another on a thread of their own; reads run beside them, each on one state of the
/// database. No work blocks Swift's cooperative threads, and cancelling a task interrupts its statement.
public final class Replica: Sendable {
  /// The folder.
  public let path: String
  /// What this replica shows others of itself.
  public let identity: PublicIdentity
  /// The group it belongs to.
  public let group: GroupID

  let folder: ReplicaFolder
  let pool: DatabasePool
  package let changes: ChangeBroadcaster
  let wallClock: WallClock
  let logger: Logger

  private init(
    folder: ReplicaFolder, identity: PublicIdentity, group: GroupID, pool: DatabasePool, changes: ChangeBroadcaster,
    wallClock: WallClock, logger: Logger
  ) {
    path = folder.path
    self.folder = folder
    self.identity = identity
    self.group = group
    self.pool = pool
    self.changes = changes
    self.wallClock = wallClock
    self.logger = logger
  }

  /// Opens the replica in a folder, making what is missing: folder (0700), keyring, database (0600), tables.
  ///
  /// A new replica is the first member of a new group; use ``join(at:invitation:key:)`` to become a member of one
  /// that exists. Tables that are there are compared with the models, and altered only as `migrations` allows.
  ///
  /// - Parameters:
  ///   - path: The folder.
  ///   - models: The models whose tables the program uses. Tables of other programs are kept and synced all the same.
  ///   - name: What a new replica is called among the members; by default the folder's name.
  ///   - key: Where the keys are.
  ///   - migrations: What may be done to tables that differ from their models; nothing by default.
  ///   - logger: Hears of opening, imports and exports at level `debug`.
  /// - Throws: `wrongKey`, `plaintextDatabase`, `notADatabase`, `damagedDatabase`, `missingKeyring`, `noKeyFits`,
  ///   `unsafeFile`, `fileAccess`, `diskFull`, `schemaMismatch`, `invalidSchema`.
  public static func open(
    at path: String, models: any Model.Type..., name: String? = nil, key: KeySource = .keyring(),
    migrations: Migrations = .none, logger: Logger = Logger(label: "godwit")
  ) async throws -> Replica {
    try await open(
      at: path, models: models, name: name, key: key, migrations: migrations, logger: logger, wallClock: .system)
  }

  /// The same with a list of models.
  public static func open(
    at path: String, models: [any Model.Type], name: String? = nil, key: KeySource = .keyring(),
    migrations: Migrations = .none, logger: Logger = Logger(label: "godwit")
  ) async throws -> Replica {
    try await open(
      at: path, models: models, name: name, key: key, migrations: migrations, logger: logger, wallClock: .system)
  }

  /// Opens a replica that must be there already; without models for tools that serve any program's data.
  ///
  /// - Throws: `noReplica` when the folder holds none; otherwise as `open(at:)`.
  public static func open(
    existing path: String, models: any Model.Type..., key: KeySource = .keyring(),
    migrations: Migrations = .none, logger: Logger = Logger(label: "godwit")
  ) async throws -> Replica {
    try await open(existing: path, models: models, key: key, migrations: migrations, logger: logger)
  }

  /// The same with a list of models.
  public static func open(
    existing path: String, models: [any Model.Type], key: KeySource = .keyring(),
    migrations: Migrations = .none, logger: Logger = Logger(label: "godwit")
  ) async throws -> Replica {
    let folder = ReplicaFolder(path, key: key)
    guard folder.hasDatabase else {
      let what = folder.hasKeyring ? "an identity in \(path), but no replica yet" : "no replica in \(path)"
      throw GodwitError(
        .noReplica, "there is \(what)", hint: "make one with: godwit init, or godwit join INVITATION")
    }
    return try await open(
      at: path, models: models, name: nil, key: key, migrations: migrations, logger: logger, wallClock: .system)
  }

  package static func open(
    at path: String, models: [any Model.Type], name: String?, key: KeySource, migrations: Migrations = .none,
    logger: Logger, wallClock: WallClock
  ) async throws -> Replica {
    let folder = ReplicaFolder(path, key: key)
    let definitions = try models.map { try $0.tableDefinition() }
    // File work and waiting for locks happen on a thread that is not one of Swift's.
    let (contents, lock) = try await BlockingThread.run {
      let lock = try folder.lock()
      var contents = try folder.keyring()
      if contents.group == nil {
        let fallback = (folder.path as NSString).lastPathComponent
        contents = try folder.foundGroup(name: name ?? fallback, wallClock: wallClock)
      }
      try folder.prepareDatabase(contents)
      return (contents, lock)
    }
    // Held until the database has its first page, so that two processes never choose a salt each.
    defer { withExtendedLifetime(lock) {} }
    guard let group = contents.group else { throw GodwitError(.damagedKeyring, "the keyring names no group") }
    let changes = ChangeBroadcaster()
    let pool = DatabasePool(path: folder.database, key: contents.databaseKey) { connection in
      guard connection.mode == .writer else { return }
      try prepareWriter(connection, group: group, contents: contents) {
        try Catalog.ensure(definitions, migrations, on: connection)
      }
      connection.attachment = try ReplicaWriter(connection, wallClock: wallClock, changes: changes)
    }
    do {
      try await pool.write { _ in try folder.rememberSalt(contents) }
    } catch {
      await pool.close()
      throw (error as? GodwitError).map { folder.explain($0, contents) } ?? error
    }
    pool.warmUp()
    logger.debug("opened replica", metadata: ["path": "\(path)", "replica": "\(contents.identity.replica)"])
    return Replica(
      folder: folder, identity: contents.identity.publicIdentity, group: group, pool: pool, changes: changes,
      wallClock: wallClock, logger: logger)
  }

  private static func prepareWriter(
    _ connection: Connection, group: GroupID, contents: KeyringContents, ensureTables: () throws -> Void
  ) throws {
    try connection.execute("BEGIN IMMEDIATE")
    do {
      try SystemTables.ensure(on: connection, group: group, replica: contents.identity.replica)
      try ensureTables()
      try connection.execute("COMMIT")
    } catch {
      if connection.isInTransaction { try connection.execute("ROLLBACK") }
      throw error
    }
  }

  // MARK: Writing and reading

  /// Runs the body as one transaction: committed whole when it returns, rolled back when it throws.
  ///
  /// The body runs on the writer's own thread. Cancelling the task interrupts it and throws `CancellationError`.
  ///
  /// - Throws: What the body throws; `busy` when another process writes for longer than five seconds; `constraint`
  ///   when a foreign key is left dangling; `diskFull`.
  @discardableResult
  public func write<Output: Sendable>(
    _ body: @escaping @Sendable (Transaction) throws -> Output
  ) async throws -> Output {
    try await withWriter { try $0.write(body) }
  }

  /// Runs the body on one state of the database. It neither waits for writes nor holds them up.
  public func read<Output: Sendable>(
    _ body: @escaping @Sendable (Snapshot) throws -> Output
  ) async throws -> Output {
    try await pool.read { connection in
      let snapshot = Snapshot(connection)
      defer { snapshot.end() }
      return try body(snapshot)
    }
  }

  /// The rows a request finds: models, tuples, joined rows.
  public func fetch<Request: FetchRequest>(_ request: Request) async throws -> [Request.Element] {
    try await read { try $0.fetch(request) }
  }

  /// The first row a request finds, or nil.
  public func first<Request: FetchRequest>(_ request: Request) async throws -> Request.Element? {
    try await read { try $0.first(request) }
  }

  /// The model with this key, or nil.
  public func fetch<Root: Model>(_ type: Root.Type, key: Root.ID) async throws -> Root? where Root.ID: Sendable {
    try await read { try $0.fetch(type, key: key) }
  }

  /// How many rows a request finds.
  public func count(_ request: some FetchRequest) async throws -> Int { try await read { try $0.count(request) } }

  /// The rows of a query in SQL; interpolated values are bound.
  public func rows(_ sql: SQL) async throws -> [Row] { try await read { try $0.rows(sql) } }

  /// Ends all observations, waits for running work and closes the files. Later use throws `closed`.
  public func close() async {
    changes.close()
    await pool.close()
  }

  func withWriter<Output: Sendable>(
    _ body: @escaping @Sendable (ReplicaWriter) throws -> Output
  ) async throws -> Output {
    try await pool.write { connection in
      guard let writer = connection.attachment as? ReplicaWriter else {
        throw GodwitError(.closed, "the writer is not ready")
      }
      return try body(writer)
    }
  }
}

extension Model {
  /// The model's table as data, for a list of models of different types.
  static func tableDefinition() throws -> TableDefinition { try schema.definition() }
}
