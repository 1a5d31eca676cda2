import Crypto
import Foundation
import GodwitBase

/// The private key of MLKEM768-X25519 (X-Wing, draft-connolly-cfrg-xwing-kem), and HPKE (RFC 9180, base mode,
/// HKDF-SHA256, ChaCha20-Poly1305) with it. swift-crypto's own preset for X-Wing has AES-GCM, which is not age's.
package struct HybridKey: Sendable {
  static let seedByteCount = 32
  /// An ML-KEM-768 key of 1,184 bytes, then an X25519 key of 32.
  package static let publicKeyByteCount = 1_216
  /// An ML-KEM-768 ciphertext of 1,088 bytes, then an X25519 share of 32.
  package static let shareByteCount = 1_120

  private static let suite = HPKE.Ciphersuite(
    kem: .XWingMLKEM768X25519, kdf: .HKDF_SHA256, aead: .chaChaPoly)

  private let key: XWingMLKEM768X25519.PrivateKey

  /// Throws `invalidKey` unless the seed has 32 bytes.
  package init(seed: SecretBytes) throws {
    guard seed.count == Self.seedByteCount else {
      throw GodwitError(.invalidKey, "a hybrid private key must have \(Self.seedByteCount) bytes")
    }
    key = try wipingStack {
      try seed.withUnsafeBytes { try XWingMLKEM768X25519.PrivateKey(seedRepresentation: $0, publicKey: nil) }
    }
  }

  package var publicKey: [UInt8] { Array(key.publicKey.rawRepresentation) }

  /// Throws `invalidKey` for another size, an ML-KEM key with a coefficient out of range, or an unsafe X25519 part.
  static func requireSafe(_ publicKey: [UInt8]) throws {
    // X-Wing's own initializer looks at the size alone; ML-KEM's checks the coefficients (FIPS 203, section 7.2).
    guard publicKey.count == publicKeyByteCount,
      (try? MLKEM768.PublicKey(rawRepresentation: publicKey.dropLast(32))) != nil
    else {
      throw GodwitError(
        .invalidKey, "a hybrid key is malformed", hint: "copy the identity again from the replica that owns it")
    }
    try PublicKeyCheck.requireSafeX25519(Array(publicKey.suffix(32)))
  }

  /// The share to send along, and ciphertext with tag.
  package static func seal(
    _ secret: SecretBytes, to publicKey: [UInt8], info: [UInt8], authenticating data: [UInt8] = []
  ) throws -> (share: [UInt8], body: [UInt8]) {
    let recipient = try XWingMLKEM768X25519.PublicKey(rawRepresentation: publicKey)
    var sender = try HPKE.Sender(recipientKey: recipient, ciphersuite: suite, info: Data(info))
    let body = try secret.withUnsafeBytes { try sender.seal($0, authenticating: data) }
    return (Array(sender.encapsulatedKey), Array(body))
  }

  /// The secret, or nil when the body was sealed to another key. The caller has checked the share's size.
  ///
  /// Throws `corruptFile` when the share's X25519 part is of small order.
  package func open(
    share: [UInt8], body: [UInt8], info: [UInt8], authenticating data: [UInt8] = []
  ) throws -> SecretBytes? {
    guard try !X25519Stanza.isOfSmallOrder(Array(share.suffix(32))) else {
      throw AgeHeader.malformed("a hybrid share is of small order")
    }
    guard
      var recipient = try? wipingStack({
        try HPKE.Recipient(privateKey: key, ciphersuite: Self.suite, info: Data(info), encapsulatedKey: Data(share))
      }),
      var plain = try? recipient.open(Data(body), authenticating: data)
    else { return nil }
    defer { plain.wipe() }
    return SecretBytes(copying: plain)
  }
}
