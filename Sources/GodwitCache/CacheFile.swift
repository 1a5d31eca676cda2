import Foundation
import GodwitBase
import GodwitFiles
import GodwitCrypto
import GodwitStorage
import Logging
import Synchronization

/// A cache's database, which is made anew whenever it turns out to be no good.
final class CacheFile: Sendable {
  private let path: String
  private let lockPath: String
  private let key: @Sendable () throws -> SecretBytes
  /// Whether nobody but caches have files in the folder; elsewhere a database without encryption,
  /// and a file that others can read, may be somebody's.
  private let ownsFolder: Bool
  private let logger: Logger

  private struct Opened: Sendable {
    let pool: DatabasePool<Connection>
    /// Held, so that nothing else is taken for it.
    let file: DatabaseFile?
    /// How many files came before.
    let generation: Int
  }

  private enum State {
    /// `discarded` is a file that was no good, and is to go first.
    case unopened(generation: Int, discarded: Opened?)
    /// `isOutdated` says that its key is another one since, so that a new file is begun right away.
    case opening(Task<Opened, any Error>, isOutdated: Bool)
    case open(Opened)
    case closed
  }

  private let state = Mutex(State.unopened(generation: 0, discarded: nil))

  init(
    path: String, lockPath: String, ownsFolder: Bool, key: @escaping @Sendable () throws -> SecretBytes, logger: Logger
  ) {
    self.path = path
    self.lockPath = lockPath
    self.ownsFolder = ownsFolder
    self.key = key
    self.logger = logger
  }

  // MARK: Access

  func read<Output: Sendable>(_ body: @escaping @Sendable (CacheTable) throws -> Output) async throws -> Output {
    try await mending { pool in try await pool.read { try body(CacheTable(connection: $0)) } }
  }

  /// The same for one statement.
  func readOnce<Output: Sendable>(_ body: @escaping @Sendable (CacheTable) throws -> Output) async throws -> Output {
    try await mending { pool in try await pool.readOnce { try body(CacheTable(connection: $0)) } }
  }

  func write<Output: Sendable>(_ body: @escaping @Sendable (CacheTable) throws -> Output) async throws -> Output {
    try await mending { pool in try await pool.write { try body(CacheTable(connection: $0)) } }
  }

  /// How often a body is begun anew because others throw the file away meanwhile.
  private static let attempts = 3

  /// Runs the body, and once more on a new file when this one is no good.
  private func mending<Output>(_ body: (DatabasePool<Connection>) async throws -> Output) async throws -> Output {
    for _ in 1..<Self.attempts {
      let file = try await opened()
      do {
        return try await body(file.pool)
      } catch let error as GodwitError where isNoGood(error) {
        throwAway(file, because: error)
      } catch let error as GodwitError where error.code == .closed {
        // Somebody else has thrown the file away, unless the cache itself is closed.
        guard try await opened().generation != file.generation else { throw error }
      }
    }
    return try await body(try await opened().pool)
  }

  private func isNoGood(_ error: GodwitError) -> Bool {
    let codes: [GodwitError.Code] = [
      .damagedDatabase, .notADatabase, .wrongKey, .unsupportedVersion, .notInSchema, .sql, .constraint, .valueMismatch,
    ]
    return codes.contains(error.code) || ownsFolder && Self.ownCodes.contains(error.code)
  }

  /// Where nobody else has files, these are no good as well.
  private static let ownCodes: [GodwitError.Code] = [.plaintextDatabase, .unsafeFile]

  // MARK: Opening

  /// The file, opened by the first who wants it.
  private func opened() async throws -> Opened {
    let (known, task) = try state.withLock { state -> (Opened?, Task<Opened, any Error>?) in
      switch state {
      case .closed: throw GodwitError(.closed, "the cache is closed")
      case .opening(let task, _): return (nil, task)
      case .open(let opened): return (opened, nil)
      case .unopened(let generation, let discarded):
        let task = Task { try await self.open(generation, discarded) }
        state = .opening(task, isOutdated: false)
        return (nil, task)
      }
    }
    if let known { return known }
    guard let task else { throw GodwitError(.closed, "the cache is closed") }
    return try await task.value
  }

  private func open(_ generation: Int, _ discarded: Opened?) async throws -> Opened {
    do {
      if let discarded { try await remove(discarded.file, closing: discarded.pool) }
      // What is wrong with the key is wrong with no file.
      let secret = try await BlockingThread.run { [key] in try key() }
      var opened: Opened
      let file = await held()
      do {
        opened = try await prepared(generation, secret)
      } catch let error as GodwitError where isNoGood(error) {
        warn(error)
        try await remove(file)
        opened = try await prepared(generation, secret)
      } catch let error as GodwitError where Self.ownCodes.contains(error.code) {
        // With other rights the same file would be taken for a cache that is no good.
        throw GodwitError(
          error.code, error.message,
          hint: "it may be no cache, and stays; remove it, or give the cache another name or folder")
      }
      let (isWanted, isOutdated) = state.withLock { state in
        guard case .opening(_, let isOutdated) = state else { return (false, false) }
        state = isOutdated ? .unopened(generation: generation + 1, discarded: opened) : .open(opened)
        return (true, isOutdated)
      }
      if isOutdated { return try await self.opened() }
      if !isWanted { await close(opened.pool) }
      return opened
    } catch {
      state.withLock { state in
        if case .opening = state { state = .unopened(generation: generation, discarded: nil) }
      }
      throw error
    }
  }

  /// Connections to a file that has its tables. No two processes begin one file, each with a salt of its own.
  private func prepared(_ generation: Int, _ secret: SecretBytes) async throws -> Opened {
    let path = path
    let lock = try await locked()
    defer { withExtendedLifetime(lock) {} }
    let file = try await BlockingThread.run {
      if !PrivateFile.exists(path) { try DatabaseFile.create(path) }
      return try DatabaseFile.open(path)
    }
    let pool = DatabasePool(readerCount: 2) { connection in
      if connection.mode == .writer { try CacheTable.prepare(connection) }
    } connect: { mode, cancellation in
      let connection = try Connection(path: path, key: secret, mode: mode, cancellation: cancellation)
      // Another process may be about to begin the file that lies there now, and holds the lock for that.
      guard !file.hasMoved(from: path) else {
        throw GodwitError(.notADatabase, "another process has put another file in its place")
      }
      return connection
    }
    do {
      try await pool.write { _ in }
      return Opened(pool: pool, file: file, generation: generation)
    } catch {
      await pool.close()
      throw error
    }
  }

  /// The file that lies there, if any can be opened.
  private func held() async -> DatabaseFile? {
    let path = path
    return try? await BlockingThread.run { try DatabaseFile.open(path) }
  }

  /// Held by who begins, removes or closes the file: the log goes by its name, which may be another file's by then.
  private func locked() async throws -> LockFile {
    let path = lockPath
    return try await BlockingThread.run {
      try PrivateFile.makeFolder(FilePath.folder(of: path))
      return try LockFile(path)
    }
  }

  /// Removes the file that is no good, and none that another process has put in its place.
  private func remove(_ file: DatabaseFile?, closing pool: DatabasePool<Connection>? = nil) async throws {
    let path = path
    let lock = try await locked()
    defer { withExtendedLifetime(lock) {} }
    await pool?.close()
    try await BlockingThread.run {
      if file?.hasMoved(from: path) != true { try DatabaseFile.remove(path) }
    }
  }

  private func close(
    _ pool: DatabasePool<Connection>?, after last: @escaping @Sendable (CacheTable) -> Void = { _ in }
  ) async {
    guard let pool else { return }
    let lock = try? await locked()
    defer { withExtendedLifetime(lock) {} }
    await pool.close { last(CacheTable(connection: $0)) }
  }

  private func throwAway(_ file: Opened, because error: GodwitError) {
    let isThrownAway = state.withLock { state in
      guard case .open(let present) = state, present.generation == file.generation else { return false }
      state = .unopened(generation: present.generation + 1, discarded: present)
      return true
    }
    if isThrownAway { warn(error) }
  }

  /// Lets the next use begin a new file, also where one is being opened.
  func discard() {
    state.withLock { state in
      switch state {
      case .open(let present): state = .unopened(generation: present.generation + 1, discarded: present)
      case .opening(let task, _): state = .opening(task, isOutdated: true)
      case .unopened, .closed: break
      }
    }
  }

  private func warn(_ error: GodwitError) {
    logger.warning("a cache is thrown away", metadata: ["path": "\(path)", "error": "\(error)"])
  }

  /// Closes the file for good.
  ///
  /// - Parameter last: What is done with it after all else; not with one that was no good.
  func close(after last: @escaping @Sendable (CacheTable) -> Void) async {
    let state = state.withLock { state in
      defer { state = .closed }
      return state
    }
    switch state {
    case .open(let opened): await close(opened.pool, after: last)
    case .opening(let task, _): await close((try? await task.value)?.pool)
    case .unopened(_, let discarded): await close(discarded?.pool)
    case .closed: break
    }
  }
}
