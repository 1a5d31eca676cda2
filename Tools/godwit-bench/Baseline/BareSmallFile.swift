import Crypto
import Foundation

/// What swift-crypto takes for a small file by hand: a key of its own for the recipient, the file key under what both
/// agree on, a header's MAC, and one chunk.
enum BareSmallFile {
  /// Seals to an X25519 key of 32 bytes, and returns how many bytes that makes.
  static func sealClassical(_ plain: [UInt8], to key: [UInt8]) throws -> Int {
    let recipient = try Curve25519.KeyAgreement.PublicKey(rawRepresentation: key)
    let ephemeral = Curve25519.KeyAgreement.PrivateKey()
    let shared = try ephemeral.sharedSecretFromKeyAgreement(with: recipient)
    let wrapping = shared.hkdfDerivedSymmetricKey(
      using: SHA256.self, salt: ephemeral.publicKey.rawRepresentation + recipient.rawRepresentation,
      sharedInfo: Data("age".utf8), outputByteCount: 32)
    return try finish(plain, wrapping, share: ephemeral.publicKey.rawRepresentation.count)
  }

  /// The same to a key of ML-KEM-768 with X25519.
  static func sealHybrid(_ plain: [UInt8], to key: [UInt8]) throws -> Int {
    let encapsulated = try XWingMLKEM768X25519.PublicKey(rawRepresentation: key).encapsulate()
    return try finish(plain, encapsulated.sharedSecret, share: encapsulated.encapsulated.count)
  }

  private static func finish(_ plain: [UInt8], _ wrapping: SymmetricKey, share: Int) throws -> Int {
    let fileKey = SymmetricKey(size: .bits128)
    let wrapped = try fileKey.withUnsafeBytes { try ChaChaPoly.seal($0, using: wrapping) }.combined
    let header = HKDF<SHA256>.deriveKey(inputKeyMaterial: fileKey, info: Data("header".utf8), outputByteCount: 32)
    let mac = HMAC<SHA256>.authenticationCode(for: wrapped, using: header)
    let payload = HKDF<SHA256>.deriveKey(inputKeyMaterial: fileKey, info: Data("payload".utf8), outputByteCount: 32)
    return try ChaChaPoly.seal(plain, using: payload).combined.count + wrapped.count + mac.byteCount + share
  }
}
