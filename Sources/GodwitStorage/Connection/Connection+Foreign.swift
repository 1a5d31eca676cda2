import CSQLCipher
import Foundation
import GodwitBase

/// Connections to databases of other programs, made by them or for them.
extension Connection {
  /// Opens a database without encryption, only to read another program's or, for the mode `copy`, to make one. Neither
  /// the database nor anything beside it is written in order to read.
  package convenience init(
    plaintext path: String, mode: Mode, cancellation: CancellationFlag = CancellationFlag()
  ) throws {
    let flags = mode == .copy ? SQLITE_OPEN_READWRITE : try PlaintextFile(path).readingFlags
    try self.init(foreign: path, flags, mode: mode, cancellation: cancellation, whenOpened: {}) { _ in }
  }

  /// Opens another program's database to read it, of which nothing but the size of its pages is looked at before the
  /// body has run.
  ///
  /// - Parameters:
  ///   - key: That of a copy under a key of Godwit's, which nobody changes; nil for one without encryption.
  ///   - pageSize: That of such a copy.
  ///   - whenOpened: Runs once all files are open.
  package convenience init(
    foreign path: String, key: (any CipherKey)?, pageSize: Int, whenOpened: () throws -> Void
  ) throws {
    let flags = key == nil ? try PlaintextFile(path).readingFlags : PlaintextFile.unchangingFlags
    try self.init(foreign: path, flags, mode: .reader, cancellation: CancellationFlag(), whenOpened: whenOpened) {
      if let key { try $0.setKey(key, pageSize: pageSize) }
    }
    sqlite3_collation_needed(handle, nil, Self.addCollation)
  }

  /// Collations that the database names and its own program alone has compare bytes, so that the rows can be read. They
  /// are in `PRAGMA collation_list` then.
  private static let addCollation:
    @convention(c) (UnsafeMutableRawPointer?, OpaquePointer?, Int32, UnsafePointer<CChar>?) -> Void = {
      _, handle, _, name in
      sqlite3_create_collation(handle, name, SQLITE_UTF8, nil) { _, firstCount, first, secondCount, second in
        guard let first, let second else { return firstCount - secondCount }
        let order = memcmp(first, second, Int(min(firstCount, secondCount)))
        return order != 0 ? order : firstCount - secondCount
      }
    }
}
