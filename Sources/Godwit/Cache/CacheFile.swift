import Foundation
import GodwitBase
import GodwitFiles
import GodwitKeys
import GodwitStorage
import Logging
import Synchronization

/// A cache's database, which is made anew whenever it turns out to be no good.
final class CacheFile: Sendable {
  let path: String
  private let key: SecretBytes
  private let logger: Logger

  private enum State {
    case unopened
    case open(DatabasePool, generation: Int)
    case closed
  }
  private let state = Mutex(State.unopened)

  init(path: String, key: SecretBytes, logger: Logger) {
    self.path = path
    self.key = key
    self.logger = logger
  }

  // MARK: Access

  func read<Output: Sendable>(_ body: @escaping @Sendable (CacheTable) throws -> Output) async throws -> Output {
    try await mending { pool in try await pool.read { try body(CacheTable(connection: $0)) } }
  }

  func write<Output: Sendable>(_ body: @escaping @Sendable (CacheTable) throws -> Output) async throws -> Output {
    try await mending { pool in try await pool.write { try body(CacheTable(connection: $0)) } }
  }

  /// Runs the body, and once more on a new file when this one is no good.
  private func mending<Output>(_ body: (DatabasePool) async throws -> Output) async throws -> Output {
    let (pool, generation) = try await current()
    do {
      return try await body(pool)
    } catch let error as GodwitError where Self.isNoGood(error) {
      try await throwAway(generation, because: error)
      return try await body(try await current().pool)
    }
  }

  private static func isNoGood(_ error: GodwitError) -> Bool {
    let codes: [GodwitError.Code] = [
      .damagedDatabase, .notADatabase, .wrongKey, .plaintextDatabase, .unsafeFile, .unsupportedVersion, .notInSchema, .sql,
      .constraint, .valueMismatch,
    ]
    return codes.contains(error.code)
  }

  private func current() async throws -> (pool: DatabasePool, generation: Int) {
    try await open(after: nil)
  }

  /// The pool that is open, or a new one: the first, or one in place of generation `after`.
  private func open(after old: Int?) async throws -> (pool: DatabasePool, generation: Int) {
    let known: (DatabasePool, Int)? = try state.withLock { state in
      switch state {
      case .closed: throw GodwitError(.closed, "the cache is closed")
      case .open(let pool, let generation) where generation != old: return (pool, generation)
      case .open, .unopened: return nil
      }
    }
    if let known { return known }
    let path = path
    do {
      try await BlockingThread.run { try Self.makeFile(path) }
    } catch let error as GodwitError where error.code == .unsafeFile {
      // Whatever lies there is not ours to use; a folder that is not ours cannot be mended.
      warn(error)
      try await BlockingThread.run {
        Self.removeFiles(path)
        try Self.makeFile(path)
      }
    }
    let pool = DatabasePool(path: path, key: key, readerCount: 2) { connection in
      if connection.mode == .writer { try CacheTable.prepare(connection) }
    }
    let (chosen, isNew): ((DatabasePool, Int), Bool) = try state.withLock { state in
      switch state {
      case .closed: throw GodwitError(.closed, "the cache is closed")
      case .open(let other, let generation) where generation != old: return ((other, generation), false)
      case .open(_, let generation):
        state = .open(pool, generation: generation + 1)
        return ((pool, generation + 1), true)
      case .unopened:
        state = .open(pool, generation: 0)
        return ((pool, 0), true)
      }
    }
    guard isNew else {
      await pool.close()
      return chosen
    }
    // The tables, ahead of the first reader.
    do {
      try await pool.write { _ in }
    } catch let error as GodwitError where Self.isNoGood(error) && old == nil {
      try await throwAway(chosen.1, because: error)
      return try await current()
    }
    return chosen
  }

  private static func makeFile(_ path: String) throws {
    guard !PrivateFile.exists(path) else { return }
    do {
      try DatabaseFile.create(path)
    } catch let error as GodwitError where error.code == .fileAccess && PrivateFile.exists(path) {
      // Another process was faster.
    }
  }

  private static func removeFiles(_ path: String) {
    for suffix in ["", "-wal", "-shm", "-journal"] { unlink(path + suffix) }
  }

  private func throwAway(_ generation: Int, because error: GodwitError) async throws {
    let pool: DatabasePool? = state.withLock { state in
      guard case .open(let pool, let present) = state, present == generation else { return nil }
      return pool
    }
    // Somebody else has done so already.
    guard let pool else { return }
    warn(error)
    await pool.close()
    let path = path
    try await BlockingThread.run { Self.removeFiles(path) }
    _ = try await open(after: generation)
  }

  private func warn(_ error: GodwitError) {
    logger.warning("a cache is thrown away", metadata: ["path": "\(path)", "error": "\(error)"])
  }

  func close() async {
    let pool: DatabasePool? = state.withLock { state in
      defer { state = .closed }
      if case .open(let pool, _) = state { return pool }
      return nil
    }
    await pool?.close()
  }
}
