import Crypto
import GodwitBase

/// The text in front of an age file's payload (C2SP age, section "Header").
struct AgeHeader: Sendable {
  static let versionLine = "age-encryption.org/v1"
  /// A reader holds no more than this; 1,024 hybrid stanzas take 1.6 MB, as many X25519 stanzas 100 kB.
  static let byteCountMax = 2 << 20
  static let stanzaCountMax = 1_024

  let stanzas: [AgeStanza]
  /// What the MAC covers: everything up to and including `---`.
  let authenticatedText: [UInt8]
  /// HMAC-SHA-256, 32 bytes.
  let authenticationCode: [UInt8]

  init(stanzas: [AgeStanza], authenticatedText: [UInt8], authenticationCode: [UInt8]) {
    self.stanzas = stanzas
    self.authenticatedText = authenticatedText
    self.authenticationCode = authenticationCode
  }

  /// A header for the stanzas, authenticated under the file key.
  init(stanzas: [AgeStanza], fileKey: AgeFileKey) {
    var text = Array("\(Self.versionLine)\n".utf8)
    for stanza in stanzas { stanza.encode(to: &text) }
    text += "---".utf8
    let code = HMAC<SHA256>.authenticationCode(for: text, using: fileKey.headerKey)
    self.init(stanzas: stanzas, authenticatedText: text, authenticationCode: Array(code))
  }

  var encoded: [UInt8] {
    authenticatedText + " ".utf8 + Base64.encode(authenticationCode) + "\n".utf8
  }

  /// What ties a payload to this header: SHA-256 of the header and the payload's nonce. Every stanza is in it, so that
  /// whoever seals the payload anew, also with the same file key, cannot keep what was signed over it.
  func binding(nonce: [UInt8]) -> ContentHash { (encoded + nonce).withUnsafeBytes { ContentHash(of: $0) } }

  /// Compares in constant time.
  func isAuthentic(under fileKey: AgeFileKey) -> Bool {
    HMAC<SHA256>.isValidAuthenticationCode(
      authenticationCode, authenticating: authenticatedText, using: fileKey.headerKey)
  }
}
