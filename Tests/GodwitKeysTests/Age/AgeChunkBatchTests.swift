import Foundation
import Synchronization
import Testing

@testable import GodwitCrypto
@testable import GodwitKeys

@Suite("Chunks on several cores")
struct AgeChunkBatchTests {
  private struct Failure: Error, Equatable { let index: Int }

  /// The threads that so many chunks are worked on by.
  private func threads(_ count: Int) throws -> Set<UInt> {
    let threads = Mutex<Set<UInt>>([])
    let results = try AgeChunkBatch.map(count) { index in
      threads.withLock { _ = $0.insert(UInt(pthread_self())) }
      usleep(1_000)
      return index
    }
    #expect(results == Array(0..<count))
    return threads.withLock { $0 }
  }

  @Test("few are worked on by who asks, for waking another costs more", arguments: 1...3)
  func few(count: Int) throws {
    #expect(try threads(count) == [UInt(pthread_self())])
  }

  @Test(
    "many are worked on by several, in order",
    .enabled(if: ProcessInfo.processInfo.activeProcessorCount > 1, "one core"))
  func many() throws {
    // All other threads may be busy at one time or another.
    let used = try (0..<200).lazy.map { _ in try threads(AgeChunkBatch.chunkCountMax).count }.first { $0 > 1 }
    #expect(used != nil)
  }

  @Test("what one of them throws is thrown, that of the first", arguments: [2, 16])
  func failing(count: Int) {
    #expect(throws: Failure(index: 1)) {
      try AgeChunkBatch.map(count) { index in
        if index > 0 { throw Failure(index: index) }
      }
    }
  }
}
