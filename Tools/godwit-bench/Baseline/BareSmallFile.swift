import Crypto
import Foundation

/// What swift-crypto takes for a small file by hand: a key of its own for the recipient, the file key under what both agree on, a
/// header's MAC, and one chunk.
enum BareSmallFile {
  static func seal(_ plain: [UInt8], to recipient: Curve25519.KeyAgreement.PublicKey) throws -> Int {
    let ephemeral = Curve25519.KeyAgreement.PrivateKey()
    let shared = try ephemeral.sharedSecretFromKeyAgreement(with: recipient)
    let wrapping = shared.hkdfDerivedSymmetricKey(
      using: SHA256.self, salt: ephemeral.publicKey.rawRepresentation + recipient.rawRepresentation,
      sharedInfo: Data("age".utf8), outputByteCount: 32)
    return try finish(plain, wrapping, share: ephemeral.publicKey.rawRepresentation.count)
  }

  static func seal(_ plain: [UInt8], to recipient: XWingMLKEM768X25519.PublicKey) throws -> Int {
    let encapsulated = try recipient.encapsulate()
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
