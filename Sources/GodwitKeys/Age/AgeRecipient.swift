import GodwitBase

/// An X25519 public key that age files are sealed to (C2SP age, section "The X25519 recipient type").
package struct AgeRecipient: Hashable, Sendable, CustomStringConvertible {
  private static let textPrefix = "age"

  /// The u-coordinate (RFC 7748), 32 bytes.
  package let bytes: [UInt8]

  /// Throws `invalidKey` for another size than 32, a non-canonical key, or one of small order.
  package init(bytes: some Collection<UInt8>) throws {
    let bytes = Array(bytes)
    try PublicKeyCheck.requireSafeX25519(bytes)
    self.bytes = bytes
  }

  /// Reads `age1…`. Throws `invalidKey` for anything else.
  package init(_ text: String) throws {
    let (prefix, data) = try Bech32.decode(Array(text.utf8), what: "the age recipient")
    guard prefix == Self.textPrefix else {
      throw GodwitError(.invalidKey, "this is not an X25519 age recipient", hint: "one starts with age1")
    }
    try self.init(bytes: data)
  }

  /// The `age1…` text.
  package var text: String {
    String(decoding: Bech32.encode(prefix: Self.textPrefix, data: bytes), as: UTF8.self)
  }

  package var description: String { text }
}
