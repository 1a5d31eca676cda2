import Foundation
import Synchronization

/// Chunks that are sealed or opened together, by all cores when there are enough of them.
enum AgeChunkBatch {
  /// 1 MiB of plaintext: enough work for two cores between two waits, and little memory.
  static let chunkCountMax = 16
  /// Below this, waking another thread costs more than it saves (a chunk takes some 30 µs).
  private static let parallelCountMin = 4

  /// The results in order. The work of one index must not touch what another's does.
  static func map<Output: Sendable>(_ count: Int, _ work: @Sendable (Int) throws -> Output) throws -> [Output] {
    guard count >= parallelCountMin else { return try (0..<count).map(work) }
    let results = Mutex([Result<Output, any Error>?](repeating: nil, count: count))
    // Runs on the calling thread, too, so it continues even when all others are busy.
    DispatchQueue.concurrentPerform(iterations: count) { index in
      let result = Result { try work(index) }
      results.withLock { $0[index] = result }
    }
    return try results.withLock { $0 }.compactMap { try $0?.get() }
  }
}
