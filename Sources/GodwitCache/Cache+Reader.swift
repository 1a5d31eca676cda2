import Foundation
import GodwitBase
import GodwitStorage
import Logging

extension Cache {
  /// Reads a cache inside the closure it is handed to.
  public final class Reader {
    /// What was read: keys that had a value, how many had none, and which have a new end.
    struct Reads: Sendable {
      var hits: [String] = []
      var misses = 0
      var pushed: [(String, Int64)] = []
    }

    /// Nil for a cache that cannot be read.
    private let table: CacheTable?
    private let now: Int64
    private var reads = Reads()
    /// What the file had to say instead of a value.
    private var failure: (any Error)?

    init(_ table: CacheTable?, now: Int64) {
      self.table = table
      self.now = now
    }

    /// The bytes under a key, or nil.
    public func data(for key: String) throws -> Data? {
      do {
        guard let entry = try table?.entry(key, now: now) else {
          reads.misses += 1
          return nil
        }
        reads.hits.append(key)
        if let expires = entry.pushed(now: now) { reads.pushed.append((key, expires)) }
        return entry.value
      } catch {
        failure = error
        throw error
      }
    }

    /// Runs the body with a reader of the file, or, when that cannot be read, of nothing. What the body throws is its
    /// own affair; what the file does is not the body's.
    static func run<Output: Sendable>(
      _ body: @escaping @Sendable (Cache.Reader) throws -> Output, on file: CacheFile, _ logger: Logger, _ name: String,
      _ make: @escaping @Sendable (CacheTable) throws -> Cache.Reader
    ) async throws -> (Result<Output, any Error>, Reads) {
      do {
        return try await file.read { table in try make(table).run(body) }
      } catch let error as GodwitError where error.code != .closed {
        logger.warning("a cache cannot be read", metadata: ["cache": "\(name)", "error": "\(error)"])
        return try await BlockingThread.run { try Cache.Reader(nil, now: 0).run(body) }
      }
    }

    private func run<Output>(_ body: (Cache.Reader) throws -> Output) throws -> (Result<Output, any Error>, Reads) {
      let result = Result { try body(self) }
      if let failure { throw failure }
      return (result, reads)
    }
  }
}
