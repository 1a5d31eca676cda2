import Foundation
import GodwitBase
import GodwitStorage
import Synchronization
import Testing

/// Stands for the keys that a connection is opened with.
private final class Keys: Sendable {}

/// A thread-local value whose destructor takes its time, as OpenSSL's may on a loaded machine.
private enum SlowEnd {
  static let endedCount = Atomic(0)
  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    pthread_key_create(&key) { _ in
      usleep(100_000)
      SlowEnd.endedCount.add(1, ordering: .relaxed)
    }
    return key
  }()

  /// Gives the thread that calls this the value.
  static func takeTime() { pthread_setspecific(key, UnsafeRawPointer(bitPattern: 1)) }
}

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

  @Test("releases what a blocking thread runs before the run returns")
  func blocking() async throws {
    for _ in 0..<100 {
      weak var held: Keys?
      // The closure that is run is its caller's, too, as long as that waits.
      func run() async throws {
        let keys = Keys()
        held = keys
        try await BlockingThread.run { withExtendedLifetime(keys) {} }
      }
      try await run()
      #expect(held == nil)
    }
  }

  @Test("is over, with what runs at its thread's end, when its closing returns")
  func slowEnd() async throws {
    let thread = DatabaseThread(name: "godwit-test") { [database] _ in try database.connect() }
    let before = SlowEnd.endedCount.load(ordering: .relaxed)
    try await thread.run { _ in SlowEnd.takeTime() }
    await thread.close()
    #expect(SlowEnd.endedCount.load(ordering: .relaxed) == before + 1)
    try await BlockingThread.run { SlowEnd.takeTime() }
    #expect(SlowEnd.endedCount.load(ordering: .relaxed) == before + 2)
  }
}
