import GodwitBase

/// A file key wrapped to a hybrid recipient (C2SP age, section "The hybrid recipient type").
struct HybridStanza: Sendable {
  static let type = "mlkem768x25519"
  private static let info = Array("age-encryption.org/mlkem768x25519".utf8)

  private let share: [UInt8]
  private let body: [UInt8]

  /// Throws `corruptFile` for anything but one canonical share of 1,120 bytes and a body of 32.
  init(_ stanza: AgeStanza) throws {
    guard stanza.arguments.count == 1, let share = Base64.decode(Array(stanza.arguments[0].utf8)),
      share.count == HybridKey.shareByteCount
    else { throw AgeHeader.malformed("a hybrid stanza has the wrong arguments") }
    guard stanza.body.count == AgeFileKey.wrappedByteCount else {
      throw AgeHeader.malformed("a hybrid stanza has a body of the wrong size")
    }
    self.share = share
    body = stanza.body
  }

  static func wrap(_ fileKey: AgeFileKey, to recipient: AgeRecipient) throws -> AgeStanza {
    let (share, body) = try HybridKey.seal(fileKey.secret, to: recipient.bytes, info: info)
    return AgeStanza(type: type, arguments: [String(decoding: Base64.encode(share), as: UTF8.self)], body: body)
  }

  /// The file key, or nil when the stanza is meant for another identity.
  func unwrap(with key: HybridKey) throws -> AgeFileKey? {
    try key.open(share: share, body: body, info: Self.info).map(AgeFileKey.init)
  }
}
