import Crypto
import Foundation
import GodwitBase

/// How a SQLCipher database keeps its pages: `content ‖ IV ‖ HMAC ‖ padding`, the last three in a reserve at each
/// page's end (zetetic.net/sqlcipher/design). The HMAC covers ciphertext, IV and the page's number, 32 bits
/// little-endian.
package struct SQLCipherFormat: Sendable {
  package let name: String
  package let pageSize: Int
  /// Bytes at each page's end that are SQLCipher's.
  let reserve: Int
  let rounds: Int
  let usesSHA512: Bool

  static let ivByteCount = 16
  package static let saltByteCount = 16
  /// Of the key that the HMAC takes, which follows from the page key and this turn of the salt.
  static let macRounds = 2
  static let macSaltMask: UInt8 = 0x3A

  /// What SQLCipher 4 makes by default.
  package static let version4 = SQLCipherFormat(
    name: "SQLCipher 4", pageSize: 4_096, reserve: 80, rounds: 256_000, usesSHA512: true)
  /// What SQLCipher 3 makes by default.
  package static let version3 = SQLCipherFormat(
    name: "SQLCipher 3", pageSize: 1_024, reserve: 48, rounds: 64_000, usesSHA512: false)

  /// The same, with other pages.
  package func withPages(of size: Int) -> SQLCipherFormat {
    SQLCipherFormat(name: name, pageSize: size, reserve: reserve, rounds: rounds, usesSHA512: usesSHA512)
  }

  var macByteCount: Int { usesSHA512 ? 64 : 20 }

  func derive(_ secret: SymmetricKey, salt: [UInt8], rounds: Int) throws -> SymmetricKey {
    try OpenSSL.pbkdf2(secret, salt: salt, rounds: rounds, usesSHA512: usesSHA512)
  }

  func code(_ parts: [ArraySlice<UInt8>], key: SymmetricKey) -> [UInt8] {
    func code<Hash: HashFunction>(_: Hash.Type) -> [UInt8] {
      var hmac = HMAC<Hash>(key: key)
      for part in parts { hmac.update(data: part) }
      return Array(hmac.finalize())
    }
    return usesSHA512 ? code(SHA512.self) : code(Insecure.SHA1.self)
  }
}
