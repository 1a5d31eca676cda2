import Foundation
import GodwitBase
import GodwitFiles
import GodwitStorage
import Synchronization
import Testing

@Suite("A copy of a database")
struct DatabaseCopyTests {
  private let database: TestDatabase
  private var copy: String { "\(database.folder)/data/copy" }
  private let key = TestKey(byte: 9)

  init() throws {
    database = try TestDatabase()
    try DatabaseFile.create("\(database.folder)/data/copy")
  }

  private func fill(_ connection: Connection) throws {
    try connection.execute(
      """
      CREATE TABLE t (a, b); CREATE INDEX i ON t (b); PRAGMA user_version=7; BEGIN;
      """)
    for number in 0..<2_000 {
      try connection.run("INSERT INTO t VALUES (?, randomblob(200))", [.integer(Int64(number))])
    }
    try connection.execute("DELETE FROM t WHERE a % 3 = 0; COMMIT")
  }

  private func source() throws -> Connection {
    let source = try database.connect(mode: .reader)
    try source.execute("BEGIN")
    return source
  }

  @Test("under another key is the same database, with rowids, settings and free pages")
  func same() throws {
    let writer = try database.connect()
    try fill(writer)
    let source = try source()
    var heard: [Double] = []
    try DatabaseCopy.run(from: source, to: copy, key: key, hasLog: false) { heard.append($0) }
    try DatabaseCopy.verify(copy, key: key, against: source) { _ in }
    #expect(heard == heard.sorted() && heard.last == 1)
    #expect(code { try Connection(path: copy, key: TestKey(), mode: .reader, isTemporary: true) } == .wrongKey)
    let reader = try Connection(path: copy, key: key, mode: .reader, isTemporary: true)
    for sql in ["PRAGMA user_version", "PRAGMA auto_vacuum", "PRAGMA freelist_count", "SELECT max(rowid) FROM t"] {
      #expect(try reader.scalar(sql) == writer.scalar(sql), "\(sql)")
    }
    let files = try FileManager.default.contentsOfDirectory(atPath: "\(database.folder)/data")
    #expect(!files.contains { $0.hasPrefix("copy-") })
    withExtendedLifetime(writer) {}
  }

  @Test("is of the state its transaction reads, while another connection writes")
  func whileWritten() throws {
    let writer = try database.connect()
    try fill(writer)
    let source = try source()
    try DatabaseCopy.run(from: source, to: copy, key: key, hasLog: true) { _ in
      try writer.execute("INSERT INTO t VALUES (0, 'later')")
    }
    try DatabaseCopy.verify(copy, key: key, against: source) { _ in }
    let reader = try Connection(path: copy, key: key, mode: .reader, isTemporary: true)
    #expect(try reader.scalar("SELECT count(*) FROM t WHERE b = 'later'") == .integer(0))
  }

  @Test("that is not the same, or damaged, is distinguished from one that is the same")
  func unlike() throws {
    let writer = try database.connect()
    try fill(writer)
    let source = try source()
    try DatabaseCopy.run(from: source, to: copy, key: key, hasLog: false)
    do {
      let changed = try Connection(path: copy, key: key, mode: .writer, isTemporary: true)
      try changed.execute("UPDATE t SET b = 'x' WHERE rowid = 500")
    }
    #expect(code { try DatabaseCopy.verify(copy, key: key, against: source) { _ in } } == .damagedDatabase)
    unlink(copy)
    try DatabaseFile.create(copy)
    try DatabaseCopy.run(from: source, to: copy, key: key, hasLog: false)
    let file = try #require(FileHandle(forUpdatingAtPath: copy))
    // Several pages, for a free one holds nothing that is read.
    for page in 5..<60 {
      try file.seek(toOffset: UInt64(4_096 * page + 99))
      try file.write(contentsOf: Data([1, 2, 3]))
    }
    try file.close()
    #expect(code { try DatabaseCopy.verify(copy, key: key, against: source) { _ in } } == .damagedDatabase)
    withExtendedLifetime(writer) {}
  }

  @Test("ends when its hearer throws")
  func thrown() throws {
    struct Enough: Error {}
    let writer = try database.connect()
    try fill(writer)
    let source = try source()
    #expect(throws: Enough.self) {
      try DatabaseCopy.run(from: source, to: copy, key: key, hasLog: false) { _ in throw Enough() }
    }
    #expect(try writer.scalar("SELECT count(*) FROM t") == source.scalar("SELECT count(*) FROM t"))
  }
}

@Suite("The gate of a database")
struct DatabaseGateTests {
  @Test("keeps connections from being opened while files are exchanged, and lets them in afterwards")
  func closed() async throws {
    let database = try TestDatabase()
    try database.connect().execute("CREATE TABLE t (a)")
    let pool = database.pool()
    let isOpen = Mutex(false)
    let begun = DispatchSemaphore(value: 0)
    let gate = Mutex<LockFile?>(try DatabaseGate.closed(for: database.path))
    let opening = Task {
      begun.signal()
      let count = try await pool.read { try $0.scalar("SELECT count(*) FROM t") }
      isOpen.withLock { $0 = true }
      return count
    }
    // On a thread of its own: who waits for the gate gives up after a time in which Swift's threads may all be taken.
    try await BlockingThread.run {
      begun.wait()
      Thread.sleep(forTimeInterval: 0.1)
      #expect(!isOpen.withLock { $0 })
      gate.withLock { $0 = nil }
    }
    #expect(try await opening.value == .integer(0))
    await pool.close()
  }

  @Test("distinguishes a database that anybody has open from one that nobody has")
  func inUse() throws {
    let database = try TestDatabase()
    do {
      let connection = try database.connect()
      try connection.execute("CREATE TABLE t (a)")
      #expect(try DatabaseFile.isInUse(database.path))
    }
    #expect(try !DatabaseFile.isInUse(database.path))
    #expect(try !DatabaseFile.isInUse(database.path + "-missing"))
  }

  @Test("has a connection notice another file in its place, and write to it in no case")
  func moved() throws {
    let (database, other) = (try TestDatabase(), try TestDatabase())
    let connection = try database.connect()
    try connection.execute("CREATE TABLE t (a)")
    try other.connect().execute("CREATE TABLE u (a)")
    #expect(!connection.hasMoved)
    rename(other.path, database.path)
    #expect(connection.hasMoved)
    #expect(throws: DatabaseMoved.self) { try connection.beginWriting() }
    #expect(!connection.isInTransaction)
  }
}
