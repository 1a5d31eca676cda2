import Foundation
import GodwitBase
import GodwitFiles
import GodwitCrypto
import GodwitKeys
import GodwitStorage

/// Seals the pages of a SQLCipher database anew, so that the SQLCipher in use can read them whichever version it is,
/// and nothing stands on disk in plaintext (Specs/conversion.md, "SQLCipher").
struct SQLCipherSource {
  private let file: FileDescriptor
  private let path: String
  private let pages: SQLCipherPages
  let pageSize: Int

  private static let candidates = [
    SQLCipherFormat.version4, .version3, .version3.withPages(of: DatabaseFile.pageSize),
  ]

  /// Finds the settings that open the first page.
  ///
  /// Throws `plaintextDatabase`, `notADatabase`, `wrongKey`, `busy` for one with a log or journal beside it.
  init(_ path: String, secret: SecretBytes) throws {
    guard try !PlaintextFile.isOne(path) else {
      throw GodwitError(.plaintextDatabase, "\(path) is a database without encryption", hint: "leave out its secret")
    }
    try PlaintextFile.requireNoChangesBeside(path)
    self.path = path
    file = try FileDescriptor.openPlainForReading(path)
    let size = try Self.byteCount(of: file)
    let start = try FileDescriptor.openPlainForReading(path).readExactly(min(size, DatabaseFile.pageSize))
    let salt = Array(start.prefix(SQLCipherFormat.saltByteCount))
    for format in Self.candidates where size.isMultiple(of: format.pageSize) && start.count >= format.pageSize {
      let pages = try SQLCipherPages(format, secret: secret, salt: salt)
      guard pages.isWhole(Array(start.prefix(format.pageSize)), number: 1) else { continue }
      self.pages = pages
      pageSize = format.pageSize
      return
    }
    throw GodwitError(
      .wrongKey, "the secret does not open \(path)",
      hint: "it must be of SQLCipher 4 or 3 with that version's default settings; a key is written x'HEX'")
  }

  /// Throws `notADatabase` for a size that no database has.
  static func byteCount(of file: FileDescriptor) throws -> Int {
    let size = try file.size()
    guard size >= 512, size.isMultiple(of: 512) else {
      throw GodwitError(
        .notADatabase, "\(file.path) is not a database", hint: "\(size) bytes are no whole number of pages")
    }
    return size
  }

  /// Writes all pages to an empty private file, under another key.
  ///
  /// Throws `damagedDatabase` for a page that does not pass its check.
  func seal(to target: FileDescriptor, key: SecretBytes, progress: (Double) throws -> Void) throws {
    let salt = SecretBytes(random: SQLCipherFormat.saltByteCount).withUnsafeBytes { Array($0) }
    let sealed = try SQLCipherPages(.version3.withPages(of: pageSize), key: key, salt: salt)
    let count = try file.size() / pageSize
    // SQLite never writes the page of the bytes that it locks (SQLite, "File Format", 1.4).
    let lockPage = 0x4000_0000 / pageSize
    for index in 0..<count {
      let number = UInt32(truncatingIfNeeded: index + 1)
      let page = try file.readExactly(pageSize)
      if index == lockPage {
        try target.write(page)
        continue
      }
      guard pages.isWhole(page, number: number) else {
        throw GodwitError(
          .damagedDatabase, "page \(number) of \(path) does not pass its check", hint: "take an earlier copy of it")
      }
      try target.write(sealed.seal(pages.open(page, number: number), number: number))
      if index % 64 == 0 { try progress(Double(index) / Double(count)) }
    }
  }
}
