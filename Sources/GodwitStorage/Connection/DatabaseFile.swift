import Foundation
import GodwitBase
import GodwitFiles

/// The database file before SQLCipher sees it: made private, never plaintext (Specs/storage.md, "Opening").
package enum DatabaseFile {
  package static let pageSize = 4096
  private static let plaintextMagic = Array("SQLite format 3\0".utf8)

  /// Makes an empty private file. SQLite gives the WAL and its index the mode of the database.
  package static func create(_ path: String) throws {
    try PrivateFile.makeFolder((path as NSString).deletingLastPathComponent)
    _ = try PrivateFile.create(path)
  }

  /// The file's first 16 bytes: SQLCipher's salt. Nil for a file that is still empty.
  package static func salt(_ path: String) throws -> [UInt8]? {
    let start = try PrivateFile.open(path).readExactlyOrLess(16)
    return start.count == 16 ? start : nil
  }

  /// Refuses a plaintext database and what cannot be a database at all.
  static func check(_ path: String) throws {
    let file = try PrivateFile.open(path)
    let size = try file.size()
    guard size > 0 else { return }
    try checkEncrypted(path)
    guard size >= 512, size % 512 == 0 else {
      throw GodwitError(
        .notADatabase, "\(path) is not a database", hint: "\(size) bytes are no whole number of pages")
    }
  }

  static func checkEncrypted(_ path: String) throws {
    guard try PrivateFile.open(path).readExactlyOrLess(16) == plaintextMagic else { return }
    throw GodwitError(
      .plaintextDatabase, "\(path) is a database without encryption",
      hint: "Godwit never opens one in place; copy its rows into a new replica")
  }
}

extension FileDescriptor {
  fileprivate func readExactlyOrLess(_ count: Int) throws -> [UInt8] {
    try [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      filled = try readFully(into: UnsafeMutableRawBufferPointer(buffer))
    }
  }
}
