import GodwitBase
import GodwitFiles

/// The lock under which connections are opened and closed, and files exchanged.
///
/// SQLite finds a database's log by name, when it opens it and when the last connection removes it. So a file must not
/// take the database's place at these moments, or the log of one would meet the pages of the other (Specs/rekey.md).
package enum DatabaseGate {
  /// How long to wait for others, as for SQLite's own locks.
  private static let patienceMilliseconds = 5_000

  private static func path(_ database: String) -> String { "\(database)-gate" }

  /// For as long as a connection is being opened or closed.
  static func open(for database: String) throws -> LockFile {
    guard let lock = try LockFile(path(database), isShared: true, waitingMilliseconds: patienceMilliseconds) else {
      throw GodwitError(
        .busy, "the database is being exchanged", hint: "another process rekeys or restores it; try again")
    }
    return lock
  }

  /// For as long as files are exchanged: nobody opens or closes a connection. Whoever has this must not do so either.
  package static func closed(for database: String) throws -> LockFile {
    guard let lock = try LockFile(path(database), isShared: false, waitingMilliseconds: patienceMilliseconds) else {
      throw GodwitError(.busy, "the database is being opened or closed", hint: "try again")
    }
    return lock
  }
}

/// The file under a connection is no longer the database's, and nothing has been done with it: the same work on a new
/// connection is right.
package struct DatabaseMoved: Error {}
