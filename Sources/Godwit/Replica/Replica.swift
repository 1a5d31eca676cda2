import Foundation
import GodwitBase
import GodwitKeys
import GodwitModel
import GodwitCore
import GodwitEngine
import GodwitStorage
import Logging
import Synchronization

/// One copy of a group's data: an encrypted database with its change log, in a folder of its own.
///
/// Writes run one after another on a thread of their own; reads run beside them, each on one state of the
/// database. No work blocks Swift's cooperative threads, and cancelling a task interrupts its statement.
public final class Replica: Sendable {
  /// The folder.
  public let path: String
  /// What this replica shows others of itself; of one whose identity another process replaced meanwhile, the earlier.
  public var identity: PublicIdentity { ownIdentity.withLock { $0 } }
  let ownIdentity: Mutex<PublicIdentity>
  /// The group it belongs to.
  public let group: GroupID

  let folder: ReplicaFolder
  let pool: DatabasePool<ReplicaSession>
  package let changes: ChangeBroadcaster
  let wallClock: WallClock
  let logger: Logger
  let documentClock: DocumentClock
  let databaseKeys: DatabaseKeys
  let trusted: TrustedMembers
  let exporterMemory = Exporter.Memory()
  let caches = CacheShelf()

  let tuning: Tuning

  /// Whether ``close()`` has begun.
  private let isClosed = Atomic(false)

  /// Whether there may be history to forget when the replica is closed.
  let hasWritten = Mutex(false)

  /// The temporary folder, which goes when the replica is closed.
  let temporary: TemporaryFolder?

  init(
    folder: ReplicaFolder, identity: PublicIdentity, group: GroupID, pool: DatabasePool<ReplicaSession>,
    changes: ChangeBroadcaster,
    wallClock: WallClock, documentClock: DocumentClock, databaseKeys: DatabaseKeys, logger: Logger,
    tuning: Tuning, temporary: TemporaryFolder?
  ) {
    path = folder.path
    self.temporary = temporary
    self.folder = folder
    ownIdentity = Mutex(identity)
    self.group = group
    trusted = TrustedMembers(group: group, location: folder.keys)
    self.pool = pool
    self.changes = changes
    self.wallClock = wallClock
    self.documentClock = documentClock
    self.databaseKeys = databaseKeys
    self.logger = logger
    self.tuning = tuning
  }

  // MARK: Writing and reading

  /// Runs the body as one transaction: committed whole when it returns, rolled back when it throws.
  ///
  /// The body runs once, on the writer's own thread, and may change what the caller gives away to it: a local variable
  /// that is not used afterwards. Cancelling the task interrupts it and throws `CancellationError`.
  ///
  /// - Throws: What the body throws; `busy` when another process writes for longer than five seconds; `constraint`
  ///   when a foreign key is left dangling; `diskFull`.
  @discardableResult
  public func write<Output: Sendable>(
    _ body: sending @escaping (Transaction) throws -> Output
  ) async throws -> Output {
    let (output, upkeep) = try await commit(body)
    await run(upkeep)
    return output
  }

  /// What is due after a transaction.
  package struct Upkeep: Sendable {
    fileprivate let isSweepDue: Bool
    fileprivate let isForgettingDue: Bool
  }

  /// Does as ``write(_:)`` does, and leaves to the caller what is due afterwards, which waits for others' writes.
  package func commit<Output: Sendable>(
    _ body: sending @escaping (Transaction) throws -> Output
  ) async throws -> (Output, Upkeep) {
    let work = Handover(body)
    return try await withWriter { writer in
      let output = try writer.write(work.content)
      self.hasWritten.withLock { $0 = true }
      return (output, Upkeep(isSweepDue: writer.isSweepDue(), isForgettingDue: writer.isForgettingDue()))
    }
  }

  /// Does what is due.
  package func run(_ upkeep: Upkeep) async {
    if upkeep.isSweepDue { await sweepAlone() }
    if upkeep.isForgettingDue { await forgetAlone() }
  }

  /// Runs the body on one state of the database. It neither waits for writes nor holds them up.
  public func read<Output: Sendable>(
    _ body: sending @escaping (Reader) throws -> Output
  ) async throws -> Output {
    let work = Handover(body)
    return try await pool.read { connection in
      let reader = Reader(connection)
      defer { reader.end() }
      return try work.content(reader)
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

  /// Ends all observations, waits for running work, closes the files and ends all threads. Use that begins after this
  /// throws `closed`, so it ends however much others want to write.
  ///
  /// A program closes its replicas before it exits: what OpenSSL does at a process's end must not meet threads that
  /// still use it (Specs/storage.md, "Closing").
  public func close() async {
    isClosed.store(true, ordering: .relaxed)
    changes.close()
    let forgets = hasWritten.withLock { $0 } && temporary == nil
    async let closedCaches: Void = caches.close()
    if forgets { await pool.close { [self] in forgetAtEnd($0) } } else { await pool.close() }
    await closedCaches
    temporary?.remove()
  }

  /// Throws `closed` when the replica is being closed: for what does not use the database.
  func requireOpen() throws(GodwitError) {
    guard !isClosed.load(ordering: .relaxed) else { throw GodwitError(.closed, "the replica is closed") }
  }

  func withWriter<Output: Sendable>(
    _ body: @escaping @Sendable (ReplicaWriter) throws -> Output
  ) async throws -> Output {
    do {
      return try await pool.write { try body($0.requireWriter()) }
    } catch {
      throw DatabaseSwap(folder).explain(error)
    }
  }
}

extension Replica {
  /// Runs the body and closes the replica, also when the body throws. A process must not exit before that.
  package func closing<Output>(after body: (Replica) async throws -> Output) async throws -> Output {
    do {
      let output = try await body(self)
      await close()
      return output
    } catch {
      await close()
      throw error
    }
  }
}
