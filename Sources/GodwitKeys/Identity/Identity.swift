import Crypto
import GodwitBase
import GodwitCrypto

/// A replica's private keys: one that opens files sealed to it, one that signs what it says.
package struct Identity: Sendable {
  package let replica: ReplicaID
  /// The X25519 key, or the seed of a hybrid one: 32 bytes.
  package let ageIdentity: AgeIdentity
  /// The Ed25519 seed (RFC 8032, section 5.1.5), 32 bytes.
  private let signingSeed: SecretBytes
  /// What others may know of this identity.
  package let publicIdentity: PublicIdentity

  /// Throws `invalidKey` when a secret has another size than 32 bytes.
  package init(
    replica: ReplicaID, signingSeed: SecretBytes, kind: AgeKeyKind = .x25519, agreementKey: SecretBytes
  ) throws {
    self.replica = replica
    self.signingSeed = signingSeed
    ageIdentity = try AgeIdentity(kind, secret: agreementKey)
    publicIdentity = try PublicIdentity(
      replica: replica, recipient: ageIdentity.recipient,
      verificationKey: wipingStack { Array(try Self.signingKey(signingSeed).publicKey.rawRepresentation) })
  }

  /// New keys from the system's random number generator.
  package static func generate(replica: ReplicaID, kind: AgeKeyKind = .x25519) throws -> Identity {
    try Identity(
      replica: replica, signingSeed: SecretBytes(random: 32), kind: kind, agreementKey: SecretBytes(random: 32))
  }

  /// An Ed25519 signature over the message, 64 bytes. The message begins with what distinguishes its kind from others.
  package func sign(_ message: [UInt8]) throws -> [UInt8] {
    try wipingStack { Array(try Self.signingKey(signingSeed).signature(for: message)) }
  }

  private static func signingKey(_ seed: SecretBytes) throws -> Curve25519.Signing.PrivateKey {
    do {
      return try seed.withUnsafeBytes { try Curve25519.Signing.PrivateKey(rawRepresentation: $0) }
    } catch {
      throw GodwitError(.invalidKey, "an Ed25519 seed must have 32 bytes")
    }
  }
}

// Specs/keyring.md, "Identities": version u8, replica 16, Ed25519 seed 32, X25519 private key or hybrid seed 32.
extension Identity {
  /// Writes the private keys; only into a buffer that is sealed and then wiped.
  package func encode(to writer: inout ByteWriter) {
    writer.byte(ageIdentity.recipient.kind.identityVersion)
    replica.value.write(to: &writer)
    signingSeed.withUnsafeBytes { writer.raw($0) }
    ageIdentity.secret.withUnsafeBytes { writer.raw($0) }
  }

  /// Throws `unsupportedVersion`, `truncatedFile` or `invalidKey`.
  package init(reading reader: inout ByteReader) throws {
    guard let kind = AgeKeyKind(identityVersion: try reader.byte()) else {
      throw GodwitError(
        .unsupportedVersion, "the private identity has a version this program does not know", hint: "update Godwit")
    }
    try self.init(
      replica: ReplicaID(Identifier128(reading: &reader)),
      signingSeed: SecretBytes(copying: reader.raw(32)), kind: kind,
      agreementKey: SecretBytes(copying: reader.raw(32)))
  }
}

extension AgeKeyKind {
  /// The version of an identity shows the kind of its keys.
  var identityVersion: UInt8 {
    switch self {
    case .x25519: 1
    case .hybrid: 2
    }
  }

  init?(identityVersion: UInt8) {
    guard let kind = [Self.x25519, .hybrid].first(where: { $0.identityVersion == identityVersion }) else { return nil }
    self = kind
  }
}
