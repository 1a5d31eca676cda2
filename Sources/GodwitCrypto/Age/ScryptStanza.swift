import Crypto
import GodwitBase

/// A file key wrapped to a passphrase (C2SP age, section "The scrypt recipient type"). It stands alone in its header.
struct ScryptStanza: Sendable {
  static let type = "scrypt"
  private static let label = Array("age-encryption.org/v1/scrypt".utf8)
  private static let saltByteCount = 16

  private let salt: [UInt8]
  private let cost: Int
  private let body: [UInt8]

  /// Throws `corruptFile` for anything but one canonical 16-byte salt, a decimal cost and a 32-byte body.
  init(_ stanza: AgeStanza) throws {
    guard stanza.arguments.count == 2, let salt = Base64.decode(Array(stanza.arguments[0].utf8)),
      salt.count == Self.saltByteCount, let cost = Self.cost(stanza.arguments[1])
    else { throw AgeHeader.malformed("a passphrase stanza has the wrong arguments") }
    guard stanza.body.count == AgeFileKey.wrappedByteCount else {
      throw AgeHeader.malformed("a passphrase stanza has a body of the wrong size")
    }
    self.salt = salt
    self.cost = cost
    body = stanza.body
  }

  static func wrap(_ fileKey: AgeFileKey, to passphrase: SecretBytes, cost: Int) throws -> AgeStanza {
    let salt = SecretBytes(random: saltByteCount).withUnsafeBytes(Array.init)
    let body = try fileKey.wrapped(under: Scrypt.key(passphrase, salt: label + salt, cost: cost))
    let saltText = String(decoding: Base64.encode(salt), as: UTF8.self)
    return AgeStanza(type: type, arguments: [saltText, "\(cost)"], body: body)
  }

  /// The file key, or nil when the passphrase is another one. Throws `limitExceeded` for a cost beyond the limit.
  func unwrap(with passphrase: SecretBytes, costMax: Int) throws -> AgeFileKey? {
    AgeFileKey(
      wrapped: body, under: try Scrypt.key(passphrase, salt: Self.label + salt, cost: cost, costMax: costMax))
  }

  /// `[1-9][0-9]*`. What does not fit a number is beyond every limit.
  private static func cost(_ text: String) -> Int? {
    guard let first = text.utf8.first, (UInt8(ascii: "1")...UInt8(ascii: "9")).contains(first),
      text.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains)
    else { return nil }
    return Int(text) ?? .max
  }
}
