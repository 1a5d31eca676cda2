import CSQLCipher

/// The versions of the library that this process has loaded, and what depends on them.
package enum LibraryVersion {
  /// From here on SQLite has SQLITE_DBCONFIG_DEFENSIVE.
  static let defensive = 3_026_000
  /// From here on a schema that is not trusted may call only functions that are said to do no harm.
  static let innocuous = 3_031_000

  /// The version of SQLite, such as `3.15.2`.
  package static var sqlite: String { String(cString: sqlite3_libversion()) }

  /// The version of SQLCipher, such as `3.4.1`; nil when the library has no cipher.
  package static var sqlcipher: String? {
    var handle: OpaquePointer?
    defer { sqlite3_close_v2(handle) }
    guard sqlite3_open_v2(":memory:", &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nil) == SQLITE_OK else {
      return nil
    }
    var statement: OpaquePointer?
    defer { sqlite3_finalize(statement) }
    guard sqlite3_prepare_v2(handle, "PRAGMA cipher_version", -1, &statement, nil) == SQLITE_OK,
      sqlite3_step(statement) == SQLITE_ROW, let text = sqlite3_column_text(statement, 0)
    else { return nil }
    return String(cString: text)
  }
}
