import CSQLCipher
import Foundation
import GodwitBase
import GodwitFiles

/// A file that is to be read as another program's database without encryption (Specs/conversion.md, "Reading").
package struct PlaintextFile {
  /// What such a file begins with.
  package static let magic = Array("SQLite format 3\0".utf8)

  /// Whether its header says that it has a write-ahead log.
  private let hasLogMode: Bool

  /// Whether the file begins as one.
  package static func isOne(_ path: String) throws -> Bool { try header(path).starts(with: magic) }

  /// Throws `notADatabase` for another file, and `busy` for one whose latest changes lie in a file beside it.
  init(_ path: String) throws {
    let header = try Self.header(path)
    guard header.starts(with: Self.magic), header.count == 100 else {
      throw GodwitError(.notADatabase, "\(path) is not a SQLite database", hint: "or it is encrypted")
    }
    hasLogMode = header[18] == 2 || header[19] == 2
    try Self.requireNoChangesBeside(path)
  }

  /// A log or journal with something in it is part of the database, and taking it in would write to the database.
  ///
  /// - Parameter path: The file's own, for SQLite keeps both beside the file, and not beside a link to it.
  package static func requireNoChangesBeside(_ path: String) throws {
    for suffix in ["-wal", "-journal"] {
      var status = stat()
      guard stat(path + suffix, &status) == 0, status.st_size > 0 else { continue }
      // A journal that is kept begins with a zero when there is nothing to roll back (SQLite, "File Format", 4).
      if suffix == "-journal", try header(path + suffix).first == 0 { continue }
      throw GodwitError(
        .busy, "\(path)\(suffix) holds changes that are not in the database yet",
        hint: "close the program that has it open, or open and close it once with that program")
    }
  }

  private static func header(_ path: String) throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 100)
    let file = try FileDescriptor.openPlainForReading(path)
    let count = try bytes.withUnsafeMutableBytes { try file.readFully(into: $0) }
    return Array(bytes.prefix(count))
  }

  /// A database with a log mode but no log is read as one that cannot change: SQLite would make the log.
  var readingFlags: Int32 { hasLogMode ? Self.unchangingFlags : SQLITE_OPEN_READONLY }

  /// For a file that nobody changes.
  static let unchangingFlags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI

  static func uri(_ path: String, _ flags: Int32) -> String {
    guard flags & SQLITE_OPEN_URI != 0 else { return path }
    let absolute = path.hasPrefix("/") ? path : "\(FileManager.default.currentDirectoryPath)/\(path)"
    let plain = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/-._~".utf8)
    let escaped = absolute.utf8.map { byte in
      plain.contains(byte) ? String(decoding: [byte], as: UTF8.self) : "%" + Hexadecimal.encode([byte])
    }
    return "file://\(escaped.joined())?immutable=1"
  }
}
