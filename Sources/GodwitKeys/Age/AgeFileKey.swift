import Crypto
import GodwitBase

/// The 16 random bytes that everything in one age file hangs on (C2SP age, section "File key").
struct AgeFileKey: Sendable {
  static let byteCount = 16
  let secret: SecretBytes

  /// A new key; no two files share one.
  static func random() -> AgeFileKey { AgeFileKey(secret: SecretBytes(random: byteCount)) }

  /// The key of the header's MAC: HKDF-SHA-256 (RFC 5869) with an empty salt.
  var headerKey: SymmetricKey { derive(salt: [], info: "header") }

  /// The key of the payload's chunks.
  func payloadKey(nonce: [UInt8]) -> SymmetricKey { derive(salt: nonce, info: "payload") }

  private func derive(salt: [UInt8], info: String) -> SymmetricKey {
    HKDF<SHA256>.deriveKey(
      inputKeyMaterial: secret.symmetricKey, salt: salt, info: Array(info.utf8), outputByteCount: 32)
  }
}
