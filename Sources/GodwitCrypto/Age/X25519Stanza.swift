import Crypto
import GodwitBase

/// A file key wrapped to an X25519 recipient (C2SP age, section "The X25519 recipient type").
struct X25519Stanza: Sendable {
  static let type = "X25519"
  private static let info = Array("age-encryption.org/v1/X25519".utf8)

  private let share: [UInt8]
  private let body: [UInt8]

  /// Throws `corruptFile` for anything but one canonical 32-byte share and a 32-byte body.
  init(_ stanza: AgeStanza) throws {
    guard stanza.arguments.count == 1, let share = Base64.decode(Array(stanza.arguments[0].utf8)), share.count == 32
    else { throw AgeHeader.malformed("an X25519 stanza has the wrong arguments") }
    guard stanza.body.count == AgeFileKey.wrappedByteCount else {
      throw AgeHeader.malformed("an X25519 stanza has a body of the wrong size")
    }
    self.share = share
    body = stanza.body
  }

  /// Wraps with a fresh ephemeral key. Throws `invalidKey` when the recipient's key yields no secret.
  static func wrap(_ fileKey: AgeFileKey, to recipient: AgeRecipient) throws -> AgeStanza {
    let ephemeral = try AgeIdentity(secret: SecretBytes(random: 32))
    let share = ephemeral.recipient.bytes
    guard let shared = try sharedSecret(ephemeral.agreementKey(), recipient.bytes) else {
      throw GodwitError(.invalidKey, "the recipient's key is of small order")
    }
    let body = try fileKey.wrapped(under: wrapKey(shared, share: share, recipient: recipient))
    return AgeStanza(type: type, arguments: [String(decoding: Base64.encode(share), as: UTF8.self)], body: body)
  }

  /// The file key, or nil when the stanza is meant for another identity.
  ///
  /// Throws `corruptFile` when the share is of small order.
  func unwrap(with key: Curve25519.KeyAgreement.PrivateKey, of recipient: AgeRecipient) throws -> AgeFileKey? {
    guard let shared = try Self.sharedSecret(key, share) else {
      throw AgeHeader.malformed("an X25519 share is of small order")
    }
    return AgeFileKey(wrapped: body, under: Self.wrapKey(shared, share: share, recipient: recipient))
  }

  /// Whether every scalar X25519 can have gives the all-zero secret with these 32 bytes: then any one shows it.
  static func isOfSmallOrder(_ share: [UInt8]) throws -> Bool {
    try sharedSecret(Curve25519.KeyAgreement.PrivateKey(rawRepresentation: [UInt8](repeating: 1, count: 32)), share)
      == nil
  }

  /// Nil for the all-zero secret, which swift-crypto returns like any other (RFC 7748, section 6.1).
  private static func sharedSecret(
    _ key: Curve25519.KeyAgreement.PrivateKey, _ share: [UInt8]
  ) throws -> SharedSecret? {
    let secret = try wipingStack { try key.sharedSecretFromKeyAgreement(with: .init(rawRepresentation: share)) }
    return secret.withUnsafeBytes { $0.reduce(UInt8(0), |) } == 0 ? nil : secret
  }

  private static func wrapKey(_ secret: SharedSecret, share: [UInt8], recipient: AgeRecipient) -> SymmetricKey {
    secret.hkdfDerivedSymmetricKey(
      using: SHA256.self, salt: share + recipient.bytes, sharedInfo: info, outputByteCount: 32)
  }
}
