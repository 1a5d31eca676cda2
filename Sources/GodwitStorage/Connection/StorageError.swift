import CSQLCipher
import Foundation
import GodwitBase

extension GodwitError {
  /// Turns a SQLite result code into a typed error. `sql` is shown for statements that do not compile.
  static func sqlite(_ code: Int32, _ handle: OpaquePointer?, sql: String? = nil) -> GodwitError {
    let text = handle.flatMap { sqlite3_errmsg($0) }.map { String(cString: $0) } ?? ""
    let message = text.isEmpty ? String(cString: sqlite3_errstr(code)) : text
    switch code & 0xFF {
    case SQLITE_BUSY, SQLITE_LOCKED:
      return GodwitError(.busy, "the database is busy", hint: "another process is writing; try again")
    case SQLITE_FULL:
      return GodwitError(.diskFull, "the disk is full", hint: "free some space; nothing was changed")
    case SQLITE_CONSTRAINT:
      return constraint(message)
    case SQLITE_NOMEM:
      return GodwitError(.limitExceeded, "there is no memory for what the database holds")
    case SQLITE_CORRUPT:
      return .damaged(message)
    case SQLITE_ERROR where message == String(cString: sqlite3_errstr(SQLITE_ERROR)):
      // SQLCipher 3.4.1 reports a page that fails its check so; what is wrong with a statement always has words.
      return .damaged("a page does not pass its check")
    case SQLITE_ERROR where message == "too many levels of trigger recursion":
      return GodwitError(
        .limitExceeded, "a delete takes rows along by way of over 1,000 others, or triggers call one another so deep",
        hint: "nothing was changed; delete the last rows of the chain first")
    case _ where isAtLimit(code, message):
      return GodwitError(
        .limitExceeded, sql.map { "\(message), in: \(excerpt(of: $0))" } ?? message,
        hint: "SQLite takes no more; write the statement in parts, or the value smaller")
    case SQLITE_NOTADB:
      return GodwitError(
        .wrongKey, "the key does not open this database", hint: "use the keyring the database was made with")
    case SQLITE_IOERR, SQLITE_CANTOPEN:
      return fileFailure(message, handle)
    case SQLITE_READONLY:
      return GodwitError(.notAuthorized, "this connection only reads")
    case SQLITE_AUTH:
      return GodwitError(
        .notAuthorized, "this statement is not allowed here",
        hint: "a query only reads; transactions, attached databases and Godwit's own tables are reached through the API"
      )
    default:
      return GodwitError(.sql, sql.map { "\(message), in: \(excerpt(of: $0))" } ?? message)
    }
  }

  /// Whether a statement is refused for its size, and would be right if it were smaller (sqlite.org/limits.html). The
  /// result code does not say so.
  private static func isAtLimit(_ code: Int32, _ message: String) -> Bool {
    let starts = [
      "Expression tree is too large", "parser stack overflow", "too many SQL variables", "too many terms in ",
      "too many columns in ", "at most ",
    ]
    return code & 0xFF == SQLITE_TOOBIG || code & 0xFF == SQLITE_ERROR && starts.contains(where: message.hasPrefix)
  }

  /// A statement as an error shows it: generated ones can be as long as SQLite takes, and an error is for reading.
  static func excerpt(of sql: String) -> String {
    let limit = 1_000
    guard sql.utf8.count > limit, let end = sql.index(sql.startIndex, offsetBy: limit, limitedBy: sql.endIndex) else {
      return sql
    }
    return "\(sql[..<end]) … (\(sql.utf8.count) bytes)"
  }

  /// What the system said, for SQLite's own words are the same for a full disk and for a dying one.
  private static func fileFailure(_ message: String, _ handle: OpaquePointer?) -> GodwitError {
    let path = handle.flatMap { sqlite3_db_filename($0, "main") }.map { String(cString: $0) } ?? ""
    let name = path.isEmpty ? "the database file" : path
    switch handle.map({ sqlite3_system_errno($0) }) ?? 0 {
    case ENOSPC, EDQUOT:
      return GodwitError(
        .diskFull, "the disk is full, and what SQLite keeps beside \(name) has no room",
        hint: "free some space; nothing was changed")
    case let code where code != 0:
      return GodwitError(
        .fileAccess, "\(name), or a file beside it, cannot be used: \(message): \(String(cString: strerror(code)))",
        hint: "its folder, its -wal and its -shm must be writable")
    default: return GodwitError(.fileAccess, "\(name) cannot be used: \(message)")
    }
  }

  private static func constraint(_ message: String) -> GodwitError {
    guard message.hasPrefix("FOREIGN KEY") else { return GodwitError(.constraint, message) }
    return GodwitError(
      .constraint, message,
      hint: "a row would refer to one that is not there: insert that first, or delete first what refers to it")
  }

  static func damaged(_ message: String) -> GodwitError {
    GodwitError(
      .damagedDatabase, "the database is damaged: \(message)",
      hint: "keep the file, restore a backup or join again from another replica")
  }
}
