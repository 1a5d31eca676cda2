import Foundation
import GodwitBase
import GodwitFiles
import GodwitKeys
import GodwitStorage
import Logging
import Synchronization

/// A cache's database, which is made anew whenever it turns out to be no good.
final class CacheFile: Sendable {
  private let path: String
  private let key: @Sendable () throws -> SecretBytes
  private let logger: Logger

  private struct Opened: Sendable {
    let pool: DatabasePool
    /// How many files came before.
    let generation: Int
  }

  private enum State {
    /// `discarded` is a file that was no good, and is to go first.
    case unopened(generation: Int, discarded: DatabasePool?)
    case opening(Task<Opened, any Error>)
    case open(Opened)
    case closed
  }

  private let state = Mutex(State.unopened(generation: 0, discarded: nil))

  init(path: String, key: @escaping @Sendable () throws -> SecretBytes, logger: Logger) {
    self.path = path
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

  /// Runs the body, and once more on a new file when this one is no good.
  private func mending<Output>(_ body: (DatabasePool) async throws -> Output) async throws -> Output {
    let file = try await opened()
    do {
      return try await body(file.pool)
    } catch let error as GodwitError where Self.isNoGood(error) {
      throwAway(file, because: error)
      return try await body(try await opened().pool)
    } catch let error as GodwitError where error.code == .closed {
      // Somebody else has thrown the file away, unless the cache itself is closed.
      let other = try await opened()
      guard other.generation != file.generation else { throw error }
      return try await body(other.pool)
    }
  }

  private static func isNoGood(_ error: GodwitError) -> Bool {
    let codes: [GodwitError.Code] = [
      .damagedDatabase, .notADatabase, .wrongKey, .plaintextDatabase, .unsafeFile, .unsupportedVersion, .notInSchema, .sql,
      .constraint, .valueMismatch,
    ]
    return codes.contains(error.code)
  }

  // MARK: Opening

  /// The file, opened by the first who wants it.
  private func opened() async throws -> Opened {
    let (known, task) = try state.withLock { state -> (Opened?, Task<Opened, any Error>?) in
      switch state {
      case .closed: throw GodwitError(.closed, "the cache is closed")
      case .opening(let task): return (nil, task)
      case .open(let opened): return (opened, nil)
      case .unopened(let generation, let discarded):
        let task = Task { try await self.open(generation, discarded) }
        state = .opening(task)
        return (nil, task)
      }
    }
    if let known { return known }
    guard let task else { throw GodwitError(.closed, "the cache is closed") }
    return try await task.value
  }

  private func open(_ generation: Int, _ discarded: DatabasePool?) async throws -> Opened {
    do {
      if let discarded {
        await discarded.close()
        try await removeFiles()
      }
      let pool: DatabasePool
      do {
        pool = try await prepared()
      } catch let error as GodwitError where Self.isNoGood(error) {
        warn(error)
        try await removeFiles()
        pool = try await prepared()
      }
      let opened = Opened(pool: pool, generation: generation)
      let isWanted = state.withLock { state in
        guard case .opening = state else { return false }
        state = .open(opened)
        return true
      }
      if !isWanted { await pool.close() }
      return opened
    } catch {
      state.withLock { state in
        if case .opening = state { state = .unopened(generation: generation, discarded: nil) }
      }
      throw error
    }
  }

  /// Connections to a file that has its tables. No two processes begin one file, each with a salt of its own.
  private func prepared() async throws -> DatabasePool {
    let path = path
    let lock = try await BlockingThread.run {
      try PrivateFile.makeFolder(FilePath.folder(of: path))
      let lock = try LockFile("\(path).lock")
      if !PrivateFile.exists(path) { try DatabaseFile.create(path) }
      return lock
    }
    defer { withExtendedLifetime(lock) {} }
    let pool = DatabasePool(path: path, key: try key(), readerCount: 2) { connection in
      if connection.mode == .writer { try CacheTable.prepare(connection) }
    }
    do {
      try await pool.write { _ in }
      return pool
    } catch {
      await pool.close()
      throw error
    }
  }

  private func removeFiles() async throws {
    let path = path
    try await BlockingThread.run { try DatabaseFile.remove(path) }
  }

  private func throwAway(_ file: Opened, because error: GodwitError) {
    if discard(where: { $0 == file.generation }) { warn(error) }
  }

  /// Lets the next use begin a new file, if there is one open. Says whether there was.
  @discardableResult
  func discard(where isMeant: (_ generation: Int) -> Bool = { _ in true }) -> Bool {
    state.withLock { state in
      guard case .open(let present) = state, isMeant(present.generation) else { return false }
      state = .unopened(generation: present.generation + 1, discarded: present.pool)
      return true
    }
  }

  private func warn(_ error: GodwitError) {
    logger.warning("a cache is thrown away", metadata: ["path": "\(path)", "error": "\(error)"])
  }

  func close() async {
    let last = state.withLock { state in
      defer { state = .closed }
      return state
    }
    switch last {
    case .open(let opened): await opened.pool.close()
    case .opening(let task): await (try? task.value)?.pool.close()
    case .unopened(_, let discarded): await discarded?.close()
    case .closed: break
    }
  }
}
