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
      path: folder.file("c.cache"), lockPath: folder.file("c.lock"), ownsFolder: true,
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
    _ = try Connection(path: folder.file("c.cache"), key: key, mode: .reader, cancellation: CancellationFlag())
  }

  /// Not made by SQLite, so that no plaintext header is found where none may be.
  @Test(
    "a program's own database, and a file that others can read, stay where a cache of their name is opened",
    arguments: [("SQLite format 3\0", 0o600, GodwitError.Code.plaintextDatabase), ("anything", 0o644, .unsafeFile)])
  func somebodys(start: String, mode: Int, code expected: GodwitError.Code) async throws {
    let folder = try TemporaryFolder()
    let content = Data(start.utf8) + Data(repeating: 1, count: 4_096 - start.utf8.count)
    let path = folder.file("pages.cache")
    #expect(FileManager.default.createFile(atPath: path, contents: content, attributes: [.posixPermissions: mode]))
    let cache = try Cache.open(named: "pages", in: folder.path, key: .file(folder.file("key")))
    #expect(try await cache.data(for: "home") == nil)
    #expect(try await cache.data(for: "home") { Data("computed".utf8) } == Data("computed".utf8))
    let error = await #expect(throws: GodwitError.self) { try await cache.set("home", Data()) }
    #expect(error?.code == expected && error?.hint?.hasPrefix("it may be no cache, and stays") == true)
    await cache.close()
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == content)
  }
}
