import Crypto
import GodwitBase

/// The 16 random bytes that everything in one age file hangs on (C2SP age, section "File key").
struct AgeFileKey: Sendable {
  static let byteCount = 16
  /// The size of a file key under ChaCha20-Poly1305.
  static let wrappedByteCount = byteCount + AgeChunkCipher.tagByteCount
  let secret: SecretBytes

  /// A new key; no two files share one.
  static func random() -> AgeFileKey { AgeFileKey(secret: SecretBytes(random: byteCount)) }

  init(secret: SecretBytes) { self.secret = secret }

  /// Nil when the key is another one. The nonce is zero, which is safe because each wrap key is used once.
  init?(wrapped body: [UInt8], under wrapKey: SymmetricKey) {
    guard body.count == Self.wrappedByteCount,
      let box = try? ChaChaPoly.SealedBox(combined: Self.zeroNonce + body),
      var plain = try? ChaChaPoly.open(box, using: wrapKey)
    else { return nil }
    defer { plain.wipe() }
    secret = SecretBytes(copying: plain)
  }

  /// Ciphertext and tag.
  func wrapped(under wrapKey: SymmetricKey) throws -> [UInt8] {
    let box = try secret.withUnsafeBytes { plain in
      try ChaChaPoly.seal(plain, using: wrapKey, nonce: ChaChaPoly.Nonce(data: Self.zeroNonce))
    }
    return Array(box.combined.dropFirst(Self.zeroNonce.count))
  }

  /// The key of the header's MAC: HKDF-SHA-256 (RFC 5869) with an empty salt.
  var headerKey: SymmetricKey { derive(salt: [], info: "header") }

  /// The key of the payload's chunks.
  func payloadKey(nonce: [UInt8]) -> SymmetricKey { derive(salt: nonce, info: "payload") }

  private static let zeroNonce = [UInt8](repeating: 0, count: AgeChunkCipher.nonceByteCount)

  private func derive(salt: [UInt8], info: String) -> SymmetricKey {
    secret.expanded(salt: salt, info: Array(info.utf8))
  }
}
