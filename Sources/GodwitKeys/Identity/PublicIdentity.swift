import Crypto
import GodwitBase
import GodwitCrypto

/// What a replica shows to others: its name, the key to seal files to it, and the key that checks its signatures.
///
/// Its text is one line that starts with `godwit1`. It holds no secret, but whoever enrols it should compare the
/// ``fingerprint`` over a second channel.
public struct PublicIdentity: Hashable, Sendable {
  /// The replica this identity belongs to.
  public let replica: ReplicaID
  /// The key that files for the replica are sealed to.
  package let recipient: AgeRecipient
  /// The Ed25519 public key (RFC 8032), 32 bytes.
  package let verificationKey: [UInt8]

  /// Throws `invalidKey` for a verification key that is malformed or of small order.
  package init(replica: ReplicaID, recipient: AgeRecipient, verificationKey: [UInt8]) throws {
    try PublicKeyCheck.requireSafeEd25519(verificationKey)
    self.replica = replica
    self.recipient = recipient
    self.verificationKey = verificationKey
  }

  /// Whether files for the replica stay closed to who has a quantum computer: they are sealed to a hybrid key,
  /// ML-KEM-768 with X25519. All members of a group are of the same kind.
  public var isPostQuantum: Bool { recipient.kind == .hybrid }

  /// The `age1…` text that the age program seals to with `-r`.
  public var ageRecipient: String { recipient.text }

  /// Twenty hexadecimal digits in five groups, for people to compare: the first 80 bits of a SHA-256.
  public var fingerprint: String { Fingerprint(of: binary).text }

  /// The same as five words of five letters, to be read aloud.
  public var fingerprintWords: String { Fingerprint(of: binary).words }

  /// Whether a text that a person typed or pasted is this identity's fingerprint, in digits or in words. Case, hyphens
  /// and white space do not matter.
  public func hasFingerprint(_ text: String) -> Bool { Fingerprint(of: binary).matches(text) }

  /// Whether the Ed25519 signature (64 bytes) over the message was made with this identity's signing key.
  package func verifies(signature: [UInt8], of message: [UInt8]) -> Bool {
    guard let key = try? Curve25519.Signing.PublicKey(rawRepresentation: verificationKey) else { return false }
    return key.isValidSignature(signature, for: message)
  }
}
