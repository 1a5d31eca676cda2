import Crypto

extension SecretBytes {
  /// Another secret of 32 bytes, which this one and the text give, and from which this one cannot be had:
  /// HMAC-SHA-256 (RFC 2104).
  package func derived(for purpose: String) -> SecretBytes {
    var code = Array(HMAC<SHA256>.authenticationCode(for: Array(purpose.utf8), using: symmetricKey))
    defer { code.wipe() }
    return SecretBytes(copying: code)
  }
}
