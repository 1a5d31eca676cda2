import Crypto
import Foundation

extension SecretBytes {
  /// Another secret of 32 bytes, which this one and the text give, and from which this one cannot be had:
  /// HMAC-SHA-256 (RFC 2104).
  package func derived(for purpose: String) -> SecretBytes {
    var code = Array(HMAC<SHA256>.authenticationCode(for: Array(purpose.utf8), using: symmetricKey))
    defer { code.wipe() }
    return SecretBytes(copying: code)
  }

  /// A key of 32 bytes by HKDF-SHA-256 (RFC 5869), step by step: swift-crypto leaves the last block that a hash has
  /// taken in where its state was, so this one takes in more than the secret.
  package func expanded(salt: some ContiguousBytes, info: [UInt8]) -> SymmetricKey {
    wipingStack {
      var code = HMAC<SHA256>(key: SymmetricKey(data: salt))
      withUnsafeBytes { code.update(data: $0) }
      let extracted = code.finalize()
      code.update(data: [UInt8](repeating: 0, count: 2 * SHA256.blockByteCount))
      return HKDF<SHA256>.expand(pseudoRandomKey: extracted, info: info, outputByteCount: 32)
    }
  }
}
