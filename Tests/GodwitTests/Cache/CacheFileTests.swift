import Foundation
import GodwitCrypto
import GodwitStorage
import Logging
import Synchronization
import Testing

@testable import GodwitCache

@Suite("A cache's file")
struct CacheFileTests {
  @Test("that is being opened when its key becomes another one begins anew")
  func discardedWhileOpening() async throws {
    let folder = try TemporaryFolder()
    let calls = Mutex(0)
    let (isAsked, mayAnswer) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let file = CacheFile(
      path: folder.file("cache.db"), lockPath: folder.file("cache.lock"),
      key: {
        let number = calls.withLock { calls in
          calls += 1
          return calls
        }
        isAsked.signal()
        if number == 1 { mayAnswer.wait() }
        return SecretBytes(copying: [UInt8](repeating: UInt8(number), count: 32))
      }, logger: Logger(label: "test"))
    let write = Task { try await file.write { try $0.total().entries } }
    await Task.detached { isAsked.wait() }.value
    file.discard()
    mayAnswer.signal()
    #expect(try await write.value == 0)
    #expect(calls.withLock { $0 } == 2)
    await file.close { _ in }
    // It is under the key that is true now.
    let key = SecretBytes(copying: [UInt8](repeating: 2, count: 32))
    _ = try Connection(path: folder.file("cache.db"), key: key, mode: .reader, cancellation: CancellationFlag())
  }
}
