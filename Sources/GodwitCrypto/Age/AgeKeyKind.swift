/// The two kinds of key pairs that age files are sealed to. Both have secrets of 32 bytes.
package enum AgeKeyKind: UInt8, Hashable, Sendable {
  /// X25519 (C2SP age, section "The X25519 recipient type").
  case x25519 = 1
  /// ML-KEM-768 with X25519, which a quantum computer does not break (section "The hybrid recipient type").
  case hybrid = 2

  /// The size of a public key.
  package var publicKeyByteCount: Int {
    switch self {
    case .x25519: 32
    case .hybrid: HybridKey.publicKeyByteCount
    }
  }

  var recipientPrefix: String {
    switch self {
    case .x25519: "age"
    case .hybrid: "age1pq"
    }
  }

  var identityPrefix: String {
    switch self {
    case .x25519: "AGE-SECRET-KEY-"
    case .hybrid: "AGE-SECRET-KEY-PQ-"
    }
  }

  init?(recipientPrefix: String) {
    guard let kind = [Self.x25519, .hybrid].first(where: { $0.recipientPrefix == recipientPrefix }) else { return nil }
    self = kind
  }

  init?(identityPrefix: String) {
    guard let kind = [Self.x25519, .hybrid].first(where: { $0.identityPrefix == identityPrefix }) else { return nil }
    self = kind
  }
}
