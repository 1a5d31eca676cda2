import Crypto
import Foundation
import GodwitBase

/// Opens and seals the pages of one SQLCipher database.
package struct SQLCipherPages {
  package let format: SQLCipherFormat
  private let salt: [UInt8]
  private let key: SymmetricKey
  private let macKey: SymmetricKey

  /// - Parameters:
  ///   - secret: A passphrase, or `x'…'` with 64 or 96 hexadecimal digits: a key, as SQLCipher takes it.
  ///   - salt: The first 16 bytes of the file.
  package init(_ format: SQLCipherFormat, secret: SecretBytes, salt: [UInt8]) throws {
    let key = try Self.rawKey(secret) ?? format.derive(secret.symmetricKey, salt: salt, rounds: format.rounds)
    try self.init(format, key: key, salt: salt)
  }

  /// Pages under a key of 32 bytes.
  package init(_ format: SQLCipherFormat, key: SecretBytes, salt: [UInt8]) throws {
    try self.init(format, key: key.symmetricKey, salt: salt)
  }

  private init(_ format: SQLCipherFormat, key: SymmetricKey, salt: [UInt8]) throws {
    self.format = format
    self.salt = salt
    self.key = key
    let macSalt = salt.map { $0 ^ SQLCipherFormat.macSaltMask }
    macKey = try format.derive(key, salt: macSalt, rounds: SQLCipherFormat.macRounds)
  }

  /// A key that is written out, of which SQLCipher derives none. Digits behind the first 64 are the salt, which the
  /// file has anyway.
  private static func rawKey(_ secret: SecretBytes) -> SymmetricKey? {
    secret.withUnsafeBytes { bytes in
      guard [67, 99].contains(bytes.count), bytes[0] == UInt8(ascii: "x") || bytes[0] == UInt8(ascii: "X"),
        bytes[1] == UInt8(ascii: "'"), bytes[bytes.count - 1] == UInt8(ascii: "'")
      else { return nil }
      guard var raw = Hexadecimal.decode(String(decoding: bytes[2..<66], as: UTF8.self)) else { return nil }
      defer { raw.wipe() }
      return SymmetricKey(data: raw)
    }
  }

  /// Whether the page passes its check.
  package func isWhole(_ page: [UInt8], number: UInt32) -> Bool {
    let body = body(of: number)
    let end = format.pageSize - format.reserve
    let mac = end + SQLCipherFormat.ivByteCount
    let code = format.code([page[body..<mac], number.littleEndianBytes[...]], key: macKey)
    let stored = page[mac..<mac + format.macByteCount]
    return zip(code, stored).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }

  /// The content of a page that is whole, without the reserve. Page 1 begins as a database without encryption does.
  package func open(_ page: [UInt8], number: UInt32) throws -> [UInt8] {
    let end = format.pageSize - format.reserve
    let iv = page[end..<end + SQLCipherFormat.ivByteCount]
    let content = try OpenSSL.cbc(page[body(of: number)..<end], key: key, iv: iv, isSealing: false)
    return (number == 1 ? Self.plaintextMagic : []) + content
  }

  /// A page with this content, which is filled up with zeros where it is shorter than there is room.
  package func seal(_ content: [UInt8], number: UInt32) throws -> [UInt8] {
    let end = format.pageSize - format.reserve
    let room = end - content.count
    guard room >= 0 else { throw GodwitError(.damagedDatabase, "a page has no room for its check") }
    let plain = content[body(of: number)...] + [UInt8](repeating: 0, count: room)
    let iv = SecretBytes(random: SQLCipherFormat.ivByteCount).withUnsafeBytes(Array.init)
    var page = number == 1 ? salt : []
    page += try OpenSSL.cbc(plain, key: key, iv: iv[...], isSealing: true)
    page += iv
    page += format.code([page[body(of: number)...], number.littleEndianBytes[...]], key: macKey)
    return page + [UInt8](repeating: 0, count: format.pageSize - page.count)
  }

  /// The salt stands in the place of what every database begins with.
  private func body(of number: UInt32) -> Int { number == 1 ? SQLCipherFormat.saltByteCount : 0 }

  private static let plaintextMagic = Array("SQLite format 3\0".utf8)
}

extension UInt32 {
  fileprivate var littleEndianBytes: [UInt8] { Swift.withUnsafeBytes(of: littleEndian) { Array($0) } }
}
