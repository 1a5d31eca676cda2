import GodwitBase

/// A public key that age files are sealed to.
package struct AgeRecipient: Hashable, Sendable, CustomStringConvertible {
  /// Which kind of key it is.
  package let kind: AgeKeyKind
  /// The key as stored: for X25519 the u-coordinate (RFC 7748), 32 bytes; for the hybrid kind 1,216 bytes.
  package let bytes: [UInt8]

  /// Throws `invalidKey` for another size than the kind has, a key that is not canonical, or one of small order.
  package init(_ kind: AgeKeyKind = .x25519, bytes: some Collection<UInt8>) throws {
    let bytes = Array(bytes)
    switch kind {
    case .x25519: try PublicKeyCheck.requireSafeX25519(bytes)
    case .hybrid: try HybridKey.requireSafe(bytes)
    }
    self.kind = kind
    self.bytes = bytes
  }

  /// Reads `age1…` and `age1pq1…`. Throws `invalidKey` for anything else.
  package init(_ text: String) throws {
    let (prefix, data) = try Bech32.decode(Array(text.utf8), what: "the age recipient")
    guard let kind = AgeKeyKind(recipientPrefix: prefix) else {
      throw GodwitError(.invalidKey, "this is not an age recipient of a known kind", hint: "one starts with age1")
    }
    try self.init(kind, bytes: data)
  }

  /// The text that the age program takes with `-r`.
  package var text: String {
    String(decoding: Bech32.encode(prefix: kind.recipientPrefix, data: bytes), as: UTF8.self)
  }

  /// The first 64 bits of the key's SHA-256 in four groups of four hexadecimal digits, for people.
  package var fingerprint: String { Fingerprint(of: bytes).text }

  package var description: String { text }
}
