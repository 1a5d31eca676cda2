import CSQLCipher
import Foundation
import Godwit

/// What a careful programmer writes against the C API, for the same rows in the same kind of database: the baseline
/// of the model and open benchmarks. It is the one place beside GodwitStorage that calls SQLCipher
/// (Specs/decisions/0005-bench-baseline.md). It runs on a thread of its own, as Godwit's work does.
///
/// Unchecked Sendable: each benchmark uses a value from one task at a time.
final class BareDatabase: @unchecked Sendable {
  private(set) var handle: OpaquePointer?
  private static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

  struct Failure: Error { let code: Int32 }

  /// The 16 bytes of a key, as they stand in memory.
  struct Key: Hashable {
    var high: UInt64 = 0
    var low: UInt64 = 0
  }

  struct Row {
    var id = Key()
    var title = ""
    var body = ""
    var views = 0
    var created = Date(timeIntervalSinceReferenceDate: 0)
  }

  init(_ path: String, keyHex: String) throws {
    try check(sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nil))
    let keyspec = Array("x'\(keyHex)'".utf8)
    try check(sqlite3_key_v2(handle, "main", keyspec, Int32(keyspec.count)))
    try execute("PRAGMA cipher_compatibility=3; PRAGMA cipher_page_size=4096")
  }

  deinit { sqlite3_close_v2(handle) }

  /// With `isSameTable` the date has no affinity either, as Godwit declares it: as REAL, whole numbers take less room.
  func configureAsGodwit(isSameTable: Bool = false) throws {
    try execute(
      """
      PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA temp_store=MEMORY; PRAGMA foreign_keys=ON;
      PRAGMA secure_delete=ON; PRAGMA cache_size=-16384;
      CREATE TABLE IF NOT EXISTS bare (id BLOB NOT NULL, title TEXT NOT NULL DEFAULT '', body TEXT NOT NULL DEFAULT '',
        views INTEGER NOT NULL DEFAULT 0, created \(isSameTable ? "" : "REAL") NOT NULL, PRIMARY KEY (id));
      """)
  }

  func execute(_ sql: String) throws { try check(sqlite3_exec(handle, sql, nil, nil, nil)) }

  func insert(_ rows: [Row], batch: Int) throws {
    let statement = try prepare("INSERT INTO bare (id, title, body, views, created) VALUES (?, ?, ?, ?, ?)")
    defer { sqlite3_finalize(statement) }
    for start in stride(from: 0, to: rows.count, by: batch) {
      try execute("BEGIN IMMEDIATE")
      for row in rows[start..<min(start + batch, rows.count)] {
        bind(row.id, statement, 1)
        bind(row.title, statement, 2)
        bind(row.body, statement, 3)
        sqlite3_bind_int64(statement, 4, Int64(row.views))
        sqlite3_bind_double(statement, 5, row.created.timeIntervalSinceReferenceDate)
        guard sqlite3_step(statement) == SQLITE_DONE else { throw Failure(code: sqlite3_errcode(handle)) }
        sqlite3_reset(statement)
      }
      try execute("COMMIT")
    }
  }

  /// One column of these rows, in one transaction.
  func update(_ counts: [(key: Key, views: Int)]) throws {
    let statement = try prepare("UPDATE bare SET views = ? WHERE id = ?")
    defer { sqlite3_finalize(statement) }
    try execute("BEGIN IMMEDIATE")
    for (key, views) in counts {
      sqlite3_bind_int64(statement, 1, Int64(views))
      bind(key, statement, 2)
      guard sqlite3_step(statement) == SQLITE_DONE else { throw Failure(code: sqlite3_errcode(handle)) }
      sqlite3_reset(statement)
    }
    try execute("COMMIT")
  }

  func bind(_ key: Key, _ statement: OpaquePointer?, _ index: Int32) {
    _ = withUnsafeBytes(of: key) { sqlite3_bind_blob(statement, index, $0.baseAddress, 16, Self.transient) }
  }

  func bind(_ text: String, _ statement: OpaquePointer?, _ index: Int32) {
    var text = text
    text.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) {
        _ = sqlite3_bind_text(statement, index, $0.baseAddress, Int32($0.count), Self.transient)
      }
    }
  }

  func fetch() throws -> [Row] {
    let statement = try prepare("SELECT id, title, body, views, created FROM bare")
    defer { sqlite3_finalize(statement) }
    var rows: [Row] = []
    while sqlite3_step(statement) == SQLITE_ROW { rows.append(try row(statement)) }
    return rows
  }

  func row(_ statement: OpaquePointer?) throws -> Row {
    var row = Row()
    row.id = try key(statement, 0)
    row.title = text(statement, 1)
    row.body = text(statement, 2)
    row.views = Int(sqlite3_column_int64(statement, 3))
    row.created = Date(timeIntervalSinceReferenceDate: sqlite3_column_double(statement, 4))
    return row
  }

  func key(_ statement: OpaquePointer?, _ index: Int32) throws -> Key {
    guard sqlite3_column_bytes(statement, index) == 16, let start = sqlite3_column_blob(statement, index) else {
      throw Failure(code: SQLITE_MISMATCH)
    }
    return start.loadUnaligned(as: Key.self)
  }

  func text(_ statement: OpaquePointer?, _ index: Int32) -> String {
    guard let start = sqlite3_column_text(statement, index) else { return "" }
    let bytes = UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, index)))
    return String(decoding: bytes, as: UTF8.self)
  }

  func count(_ table: String) throws -> Int { try integer("SELECT count(*) FROM \(table)") }

  func integer(_ sql: String) throws -> Int {
    let statement = try prepare(sql)
    defer { sqlite3_finalize(statement) }
    guard sqlite3_step(statement) == SQLITE_ROW else { throw Failure(code: sqlite3_errcode(handle)) }
    return Int(sqlite3_column_int64(statement, 0))
  }

  func prepare(_ sql: String) throws -> OpaquePointer? {
    var statement: OpaquePointer?
    try check(sqlite3_prepare_v2(handle, sql, -1, &statement, nil))
    return statement
  }

  func check(_ code: Int32) throws {
    guard code == SQLITE_OK else { throw Failure(code: code) }
  }
}
