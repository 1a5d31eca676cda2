import Crypto
import GodwitBase

/// An X25519 private key that opens age files (C2SP age, section "The X25519 recipient type").
package struct AgeIdentity: Sendable {
  private static let textPrefix = "AGE-SECRET-KEY-"

  /// The scalar as stored, 32 bytes; X25519 itself sets and clears the bits it needs.
  let secret: SecretBytes
  /// What files are sealed to for this identity.
  package let recipient: AgeRecipient

  /// Throws `invalidKey` unless the secret has 32 bytes.
  package init(secret: SecretBytes) throws {
    self.secret = secret
    recipient = try AgeRecipient(bytes: Self.agreementKey(secret).publicKey.rawRepresentation)
  }

  /// Reads `AGE-SECRET-KEY-1…`. Throws `invalidKey` for anything else.
  package init(_ text: String) throws {
    var (prefix, data) = try Bech32.decode(Array(text.utf8), what: "the age identity")
    defer { data.wipe() }
    guard prefix == Self.textPrefix else {
      throw GodwitError(.invalidKey, "this is not an X25519 age identity", hint: "one starts with AGE-SECRET-KEY-1")
    }
    try self.init(secret: SecretBytes(copying: data))
  }

  /// The private key as `AGE-SECRET-KEY-1…`, for opening a file with the age program in an emergency.
  package func exportSecretText() -> String {
    secret.withUnsafeBytes { String(decoding: Bech32.encode(prefix: Self.textPrefix, data: $0), as: UTF8.self) }
  }

  func agreementKey() throws -> Curve25519.KeyAgreement.PrivateKey { try Self.agreementKey(secret) }

  private static func agreementKey(_ secret: SecretBytes) throws -> Curve25519.KeyAgreement.PrivateKey {
    do {
      return try secret.withUnsafeBytes { try Curve25519.KeyAgreement.PrivateKey(rawRepresentation: $0) }
    } catch {
      throw GodwitError(.invalidKey, "an X25519 private key must have 32 bytes")
    }
  }
}
