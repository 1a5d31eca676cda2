import Foundation
import GodwitBase
import GodwitStorage
import Testing

/// Stands for the keys that a connection is opened with.
private final class Keys: Sendable {}

@Suite("A database's thread", .timeLimit(.minutes(1)))
struct DatabaseThreadTests {
  private let database: TestDatabase

  init() throws { database = try TestDatabase() }

  @Test("releases what opens its connection before its closing returns", arguments: [true, false])
  func closed(isUsed: Bool) async throws {
    weak var held: Keys?
    let thread = {
      let keys = Keys()
      held = keys
      return DatabaseThread(name: "godwit-test") { [database] _ in
        try withExtendedLifetime(keys) { try database.connect() }
      }
    }()
    if isUsed { #expect(try await thread.run { try $0.scalar("SELECT 1") } == .integer(1)) }
    #expect(held != nil)
    await thread.close()
    #expect(held == nil)
    let error = await #expect(throws: GodwitError.self) { try await thread.run { _ in } }
    #expect(error?.code == .closed)
    await thread.close()
  }

  @Test("that is idle closes its connection when no other over its database is closing one")
  func closing() async throws {
    let closing = NSLock()
    let log = database.path + "-wal"
    let thread = DatabaseThread(name: "godwit-test", idleSeconds: 0.01, closing: closing) { [database] _ in
      try database.connect()
    }
    try await BlockingThread.run {
      closing.withLock {
        let written = DispatchSemaphore(value: 0)
        Task {
          try await thread.run { try $0.execute("CREATE TABLE t (a)") }
          written.signal()
        }
        written.wait()
        Thread.sleep(forTimeInterval: 0.2)
        #expect(FileManager.default.fileExists(atPath: log))
      }
    }
    while FileManager.default.fileExists(atPath: log) { try await Task.sleep(for: .milliseconds(10)) }
    await thread.close()
  }
}
