import CSQLCipher

/// What keeps a connection within bounds: of statements, of SQL that could damage a database, of memory.
extension Connection {
  private static let limits: [(Int32, Int32)] = [
    (SQLITE_LIMIT_SQL_LENGTH, 1_000_000), (SQLITE_LIMIT_COLUMN, 2_000), (SQLITE_LIMIT_EXPR_DEPTH, 1_000),
    (SQLITE_LIMIT_COMPOUND_SELECT, 500), (SQLITE_LIMIT_FUNCTION_ARG, 100), (SQLITE_LIMIT_ATTACHED, 0),
    (SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 10_000), (SQLITE_LIMIT_VARIABLE_NUMBER, 999),
    (SQLITE_LIMIT_TRIGGER_DEPTH, 1_000), (SQLITE_LIMIT_WORKER_THREADS, 0),
  ]

  /// Bounds what a statement may be, whoever wrote it (Specs/storage.md, "Limits"). Nothing that comes from outside
  /// sets them.
  func fence() {
    for (limit, value) in Self.limits { sqlite3_limit(handle, limit, value) }
  }

  /// Keeps SQL from what can damage a database by design, such as writing to the schema's own table, where this SQLite
  /// can do so. A copy is made without a journal, which that forbids, by Godwit's own statements alone.
  func defend() throws {
    guard mode != .copy, Self.libraryVersion >= LibraryVersion.defensive else { return }
    let result = godwitSetDefensive(handle)
    guard result == SQLITE_OK else { throw failure(result) }
  }

  /// SQLite takes the cache's first pages of each connection at once, some builds a hundred, 430 KB: two thirds of what
  /// an open replica without work has. Each page that is needed is taken by itself after these.
  static let firstPages: Void = { _ = godwitSetFirstPages(8) }()
}
