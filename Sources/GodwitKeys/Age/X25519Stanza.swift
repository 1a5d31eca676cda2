import Crypto
import GodwitBase

/// A file key wrapped to an X25519 recipient (C2SP age, section "The X25519 recipient type").
struct X25519Stanza: Sendable {
  static let type = "X25519"
  private static let info = Array("age-encryption.org/v1/X25519".utf8)
  private static let bodyByteCount = AgeFileKey.byteCount + AgeChunkCipher.tagByteCount

  private let share: [UInt8]
  private let body: [UInt8]

  /// Throws `corruptFile` for anything but one canonical 32-byte share and a 32-byte body.
  init(_ stanza: AgeStanza) throws {
    guard stanza.arguments.count == 1, let share = Base64.decode(Array(stanza.arguments[0].utf8)), share.count == 32
    else { throw AgeHeader.malformed("an X25519 stanza has the wrong arguments") }
    guard stanza.body.count == Self.bodyByteCount else {
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
    let box = try fileKey.secret.withUnsafeBytes { plain in
      try ChaChaPoly.seal(
        plain, using: wrapKey(shared, share: share, recipient: recipient), nonce: zeroNonce())
    }
    let body = box.combined.dropFirst(AgeChunkCipher.nonceByteCount)
    return AgeStanza(type: type, arguments: [String(decoding: Base64.encode(share), as: UTF8.self)], body: Array(body))
  }

  /// The file key, or nil when the stanza is meant for another identity.
  ///
  /// Throws `corruptFile` when the share is of small order.
  func unwrap(with key: Curve25519.KeyAgreement.PrivateKey, of recipient: AgeRecipient) throws -> AgeFileKey? {
    guard let shared = try Self.sharedSecret(key, share) else {
      throw AgeHeader.malformed("an X25519 share is of small order")
    }
    let box = try ChaChaPoly.SealedBox(
      nonce: Self.zeroNonce(), ciphertext: body.prefix(AgeFileKey.byteCount),
      tag: body.suffix(AgeChunkCipher.tagByteCount))
    let wrapKey = Self.wrapKey(shared, share: share, recipient: recipient)
    guard var plain = try? ChaChaPoly.open(box, using: wrapKey) else { return nil }
    defer { plain.wipe() }
    return AgeFileKey(secret: SecretBytes(copying: plain))
  }

  /// Nil for the all-zero secret, which swift-crypto returns like any other (RFC 7748, section 6.1).
  private static func sharedSecret(
    _ key: Curve25519.KeyAgreement.PrivateKey, _ share: [UInt8]
  ) throws -> SharedSecret? {
    let secret = try key.sharedSecretFromKeyAgreement(with: .init(rawRepresentation: share))
    return secret.withUnsafeBytes { $0.reduce(UInt8(0), |) } == 0 ? nil : secret
  }

  private static func wrapKey(_ secret: SharedSecret, share: [UInt8], recipient: AgeRecipient) -> SymmetricKey {
    secret.hkdfDerivedSymmetricKey(
      using: SHA256.self, salt: share + recipient.bytes, sharedInfo: info, outputByteCount: 32)
  }

  /// Safe because each wrap key is used once.
  private static func zeroNonce() throws -> ChaChaPoly.Nonce {
    try ChaChaPoly.Nonce(data: [UInt8](repeating: 0, count: AgeChunkCipher.nonceByteCount))
  }
}
