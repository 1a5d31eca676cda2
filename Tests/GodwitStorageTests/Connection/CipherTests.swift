import Foundation
import GodwitBase
import GodwitStorage
import Testing

@Suite("A database connection")
struct CipherTests {
  private let database: TestDatabase
  init() throws { database = try TestDatabase() }

  @Test("proves that a cipher is there, and which")
  func version() throws {
    guard case .text(let version)? = try database.connect().scalar("PRAGMA cipher_version") else {
      Issue.record("no cipher version")
      return
    }
    #expect(version.first.map { "34".contains($0) } == true, "SQLCipher \(version)")
    #expect(Connection.libraryVersion >= 3_015_002)
  }

  @Test("writes no plaintext, neither into the database nor into its log")
  func noPlaintext() throws {
    let marker = "plaintext-marker-93c2"
    let connection = try database.connect()
    try connection.execute("CREATE TABLE t (a)")
    for _ in 0..<50 { try connection.run("INSERT INTO t VALUES (?)", [.text(marker)]) }
    let folder = (database.path as NSString).deletingLastPathComponent
    let files = try FileManager.default.contentsOfDirectory(atPath: folder)
    #expect(files.contains("database-wal"))
    for file in files {
      let content = try #require(FileManager.default.contents(atPath: "\(folder)/\(file)"))
      #expect(content.range(of: Data(marker.utf8)) == nil, "\(file)")
      #expect(!content.starts(with: Data("SQLite format 3".utf8)), "\(file)")
    }
  }

  @Test("refuses a key of any other length, which would become a passphrase", arguments: [0, 1, 16, 31, 33, 64])
  func keyLength(count: Int) throws {
    #expect(code { try database.connect(key: TestKey(count: count)) } == .invalidKey)
  }

  @Test("refuses another key")
  func wrongKey() throws {
    try database.connect().execute("CREATE TABLE t (a)")
    #expect(code { try database.connect(key: TestKey(byte: 8)) } == .wrongKey)
    #expect(try database.connect().scalar("SELECT count(*) FROM t") == .integer(0))
  }

  @Test("keeps foreign keys, recursive triggers, secure delete and temporary storage as they must be")
  func settings() throws {
    let connection = try database.connect()
    for (pragma, value) in [("foreign_keys", 1), ("recursive_triggers", 1), ("secure_delete", 1), ("temp_store", 2)] {
      #expect(try connection.scalar("PRAGMA \(pragma)") == .integer(Int64(value)), "\(pragma)")
    }
    #expect(try connection.scalar("PRAGMA journal_mode") == .text("wal"))
    #expect(try connection.scalar("PRAGMA page_size") == .integer(4_096))
  }

  @Test("that reads cannot write")
  func reader() throws {
    try database.connect().execute("CREATE TABLE t (a)")
    let reader = try database.connect(mode: .reader)
    #expect(throws: GodwitError.self) { try reader.execute("INSERT INTO t VALUES (1)") }
    #expect(try reader.scalar("SELECT count(*) FROM t") == .integer(0))
  }

  @Test("is busy while another holds the write lock, and not afterwards")
  func busy() throws {
    let first = try database.connect()
    try first.execute("CREATE TABLE t (a); BEGIN IMMEDIATE; INSERT INTO t VALUES (1)")
    let second = try database.connect(busyTimeoutMilliseconds: 20)
    #expect(code { try second.execute("BEGIN IMMEDIATE") } == .busy)
    #expect(try second.scalar("SELECT count(*) FROM t") == .integer(0))
    try first.execute("COMMIT")
    try second.execute("BEGIN IMMEDIATE; INSERT INTO t VALUES (2); COMMIT")
    #expect(try first.scalar("SELECT count(*) FROM t") == .integer(2))
  }
}

/// Written here, read and written by SQLCipher 4, and read here again. GODWIT_SQLCIPHER4_PYTHON names a Python that
/// has the `sqlcipher3` package.
@Suite(
  "SQLCipher 4",
  .enabled(
    if: ProcessInfo.processInfo.environment["GODWIT_SQLCIPHER4_PYTHON"] != nil,
    "GODWIT_SQLCIPHER4_PYTHON names no Python with sqlcipher3"))
struct CrossVersionTests {
  private static let script = """
    import sys, sqlcipher3
    connection = sqlcipher3.connect(sys.argv[1], isolation_level=None)
    connection.execute("PRAGMA key=\\"x'%s'\\"" % sys.argv[2])
    connection.execute("PRAGMA cipher_compatibility=3")
    connection.execute("PRAGMA cipher_page_size=4096")
    assert connection.execute("PRAGMA cipher_version").fetchone()[0].startswith("4")
    assert connection.execute("SELECT a, b FROM t ORDER BY a").fetchall() == [(1, "ü"), (2, None)]
    connection.execute("INSERT INTO t VALUES (3, 'from version 4')")
    assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    """

  @Test("reads and writes the same database")
  func crossCheck() throws {
    let database = try TestDatabase()
    do {
      let connection = try database.connect()
      try connection.execute("CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT)")
      try connection.execute("INSERT INTO t VALUES (1, 'ü'), (2, NULL)")
    }
    let process = Process()
    process.executableURL = URL(
      fileURLWithPath: try #require(ProcessInfo.processInfo.environment["GODWIT_SQLCIPHER4_PYTHON"]))
    process.arguments = ["-c", Self.script, database.path, TestKey().hexadecimal]
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    #expect(try database.connect().scalar("SELECT b FROM t WHERE a = 3") == .text("from version 4"))
  }
}

@Suite("A database whose name is exchanged")
struct ExchangedDatabaseTests {
  private let database: TestDatabase

  init() throws {
    database = try TestDatabase()
    try database.connect().execute("CREATE TABLE t (a)")
  }

  @Test("between the check of its file and its opening is not opened, and gets no key", arguments: [false, true])
  func exchanged(isLink: Bool) throws {
    let other = "\(database.folder)/data/other"
    try FileManager.default.copyItem(atPath: database.path, toPath: other)
    chmod(other, 0o600)
    func connect(_ exchange: () throws -> Void) throws -> Connection {
      try Connection(path: database.path, mode: .reader, cancellation: CancellationFlag()) { _ in
        try exchange()
        return TestKey()
      }
    }
    let error = code {
      try connect {
        if isLink {
          // The file itself, but by a name that leads there.
          try #require(rename(database.path, "\(database.path).away") == 0)
          try #require(symlink("\(database.path).away", database.path) == 0)
        } else {
          try #require(rename(other, database.path) == 0)
        }
      }
    }
    #expect(error == .unsafeFile)
    if isLink { try #require(rename("\(database.path).away", database.path) == 0) }
    #expect(try connect {}.scalar("SELECT count(*) FROM t") == .integer(0))
  }
}
