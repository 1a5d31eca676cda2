import Crypto
import GodwitBase

/// A private key that opens age files.
package struct AgeIdentity: Sendable {
  /// 32 bytes. For X25519 the scalar as stored, whose bits X25519 itself sets and clears; for the hybrid kind the seed.
  package let secret: SecretBytes
  /// What files are sealed to for this identity.
  package let recipient: AgeRecipient

  /// Throws `invalidKey` unless the secret has 32 bytes.
  package init(_ kind: AgeKeyKind = .x25519, secret: SecretBytes) throws {
    self.secret = secret
    recipient = try wipingStack {
      switch kind {
      case .x25519: try AgeRecipient(bytes: Self.agreementKey(secret).publicKey.rawRepresentation)
      case .hybrid: try AgeRecipient(.hybrid, bytes: HybridKey(seed: secret).publicKey)
      }
    }
  }

  /// Reads `AGE-SECRET-KEY-1…` and `AGE-SECRET-KEY-PQ-1…`. Throws `invalidKey` for anything else.
  package init(_ text: String) throws {
    var (prefix, data) = try Bech32.decode(Array(text.utf8), what: "the age identity")
    defer { data.wipe() }
    guard let kind = AgeKeyKind(identityPrefix: prefix) else {
      throw GodwitError(
        .invalidKey, "this is not an age identity of a known kind", hint: "one starts with AGE-SECRET-KEY-")
    }
    try self.init(kind, secret: SecretBytes(copying: data))
  }

  /// The private key as `AGE-SECRET-KEY-…`, for opening a file with the age program in an emergency.
  package func exportSecretText() -> String {
    secret.withUnsafeBytes {
      String(decoding: Bech32.encode(prefix: recipient.kind.identityPrefix, data: $0), as: UTF8.self)
    }
  }

  func agreementKey() throws -> Curve25519.KeyAgreement.PrivateKey { try Self.agreementKey(secret) }

  private static func agreementKey(_ secret: SecretBytes) throws -> Curve25519.KeyAgreement.PrivateKey {
    do {
      return try wipingStack {
        try secret.withUnsafeBytes { try Curve25519.KeyAgreement.PrivateKey(rawRepresentation: $0) }
      }
    } catch {
      throw GodwitError(.invalidKey, "an X25519 private key must have 32 bytes")
    }
  }
}
