import Foundation
import GodwitBase
import Synchronization
import Testing

@testable import GodwitStorage

private let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"

/// Lets a test wait until something has happened elsewhere.
private final class Signal: Sendable {
  private let semaphore = DispatchSemaphore(value: 0)
  func send() { semaphore.signal() }
  func wait() { semaphore.wait() }
  func arrival() async throws { try await BlockingThread.run { self.semaphore.wait() } }
}

private final class Flag: Sendable {
  private let value = Mutex(false)
  var isSet: Bool { value.withLock { $0 } }
  func set() { value.withLock { $0 = true } }
}

@Suite("A pool of connections", .timeLimit(.minutes(1)))
struct PoolTests {
  private let database: TestDatabase
  private let pool: DatabasePool<Connection>

  init() async throws {
    database = try TestDatabase()
    pool = database.pool()
    try await pool.write { try $0.execute("CREATE TABLE t (a INTEGER PRIMARY KEY, b)") }
  }

  @Test("interrupts a long statement when its task is cancelled, and works afterwards", arguments: [true, false])
  func cancellation(isWrite: Bool) async throws {
    let started = Signal()
    let pool = pool
    let task = Task {
      let body: @Sendable (Connection) throws -> Value? = { connection in
        started.send()
        return try connection.scalar(endless)
      }
      return isWrite ? try await pool.write(body) : try await pool.read(body)
    }
    try await started.arrival()
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try await pool.write { try $0.scalar("SELECT 1") } == .integer(1))
    #expect(try await pool.read { try $0.scalar("SELECT 1") } == .integer(1))
  }

  @Test("interrupts a statement also when SQLite has forgotten the interrupt, as while a statement begins")
  func forgottenInterrupt() throws {
    let flag = CancellationFlag()
    let connection = try Connection(path: database.path, key: TestKey(), mode: .writer, cancellation: flag)
    let rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"
    #expect(throws: CancellationError.self) {
      try connection.withStatement(rows) { statement in
        _ = try statement.step()
        // From now on the flag alone is set.
        flag.detach()
        flag.cancel()
        for _ in 0..<100_000 { _ = try statement.step() }
      }
    }
    flag.clear()
    #expect(try connection.scalar("SELECT 1") == .integer(1))
  }

  @Test("drops work that is cancelled while it waits")
  func cancelledInTheQueue() async throws {
    let pool = pool
    let (isRunning, mayEnd) = (Signal(), Signal())
    let first = Task {
      try await pool.write { _ in
        isRunning.send()
        mayEnd.wait()
      }
    }
    try await isRunning.arrival()
    let second = Task { try await pool.write { try $0.execute("INSERT INTO t VALUES (1, 1)") } }
    second.cancel()
    await #expect(throws: CancellationError.self) { try await second.value }
    mayEnd.send()
    try await first.value
    #expect(try await pool.read { try $0.scalar("SELECT count(*) FROM t") } == .integer(0))
  }

  @Test("does not pass one task's cancellation on to the next")
  func cancellationEnds() async throws {
    let pool = pool
    for _ in 0..<50 {
      let task = Task { try await pool.read { try $0.scalar("SELECT count(*) FROM t") } }
      task.cancel()
      _ = try? await task.value
      #expect(try await pool.read { try $0.scalar("SELECT 1") } == .integer(1))
    }
  }

  @Test("shows each reader one state while another task writes")
  func snapshots() async throws {
    let pool = pool
    try await pool.write { try $0.execute("INSERT INTO t VALUES (1, 0), (2, 0)") }
    let isDone = Flag()
    try await withThrowingTaskGroup(of: Int.self) { group in
      group.addTask {
        defer { isDone.set() }
        for _ in 0..<150 {
          try await pool.write { connection in
            try connection.execute("BEGIN; UPDATE t SET b = b + 1 WHERE a = 1")
            try connection.execute("UPDATE t SET b = b + 1 WHERE a = 2; COMMIT")
          }
        }
        return 0
      }
      for _ in 0..<8 {
        group.addTask {
          var reads = 0
          repeat {
            let (first, second, again) = try await pool.read { connection in
              let first = try connection.scalar("SELECT b FROM t WHERE a = 1")
              let second = try connection.scalar("SELECT b FROM t WHERE a = 2")
              return (first, second, try connection.scalar("SELECT b FROM t WHERE a = 1"))
            }
            #expect(first == second && first == again)
            reads += 1
          } while !isDone.isSet
          return reads
        }
      }
      var reads = 0
      for try await count in group { reads += count }
      #expect(reads >= 8)
    }
    #expect(try await pool.read { try $0.scalar("SELECT sum(b) FROM t") } == .integer(300))
  }

  @Test("leaves Swift's own threads free, however many reads block")
  func cooperativeThreads() async throws {
    let count = ProcessInfo.processInfo.activeProcessorCount * 2 + 2
    let pool = database.pool(readerCount: count)
    let (entered, mayEnd) = (Signal(), Signal())
    let blocked = (0..<count).map { _ in
      Task {
        try await pool.read { _ in
          entered.send()
          mayEnd.wait()
        }
      }
    }
    for _ in 0..<count { try await entered.arrival() }
    // All of them wait now; were they on Swift's threads, this would never get its turn.
    let sum = await withTaskGroup(of: Int.self) { group in
      for number in 0..<100 {
        group.addTask {
          await Task.yield()
          return number
        }
      }
      return await group.reduce(0, +)
    }
    #expect(sum == 4_950)
    for _ in 0..<count { mayEnd.send() }
    for task in blocked { try await task.value }
    await pool.close()
  }

  @Test("closed once is closed for all, and closing it again does no harm")
  func closed() async throws {
    await pool.close()
    await pool.close()
    let failure = await #expect(throws: GodwitError.self) { try await pool.read { try $0.scalar("SELECT 1") } }
    #expect(failure?.code == .closed)
  }

  /// Two connections that close at once each see the other, and neither would be the last.
  @Test("takes the log into the database when all of its connections become idle at once")
  func idle() async throws {
    let database = try TestDatabase()
    let pool = database.pool(idleSeconds: 0.02)
    let log = database.path + "-wal"
    try await pool.write { try $0.execute("CREATE TABLE t (a)") }
    for _ in 0..<50 {
      try await pool.write { try $0.execute("INSERT INTO t VALUES (1)") }
      let (entered, mayEnd) = (Signal(), Signal())
      let reads = (0..<4).map { _ in
        Task {
          try await pool.read { _ in
            entered.send()
            mayEnd.wait()
          }
        }
      }
      for _ in reads { try await entered.arrival() }
      for _ in reads { mayEnd.send() }
      for read in reads { try await read.value }
      for _ in 0..<500 where FileManager.default.fileExists(atPath: log) {
        try await Task.sleep(for: .milliseconds(10))
      }
      #expect(!FileManager.default.fileExists(atPath: log))
    }
    #expect(try await pool.read { try $0.scalar("SELECT count(*) FROM t") } == .integer(50))
    await pool.close()
  }

  @Test("tries to open again after it could not")
  func reopening() async throws {
    let database = try TestDatabase()
    let pool = database.pool()
    chmod(database.path, 0o644)
    let failure = await #expect(throws: GodwitError.self) {
      try await pool.write { try $0.execute("CREATE TABLE t (a)") }
    }
    #expect(failure?.code == .unsafeFile)
    chmod(database.path, 0o600)
    try await pool.write { try $0.execute("CREATE TABLE t (a)") }
  }
}
