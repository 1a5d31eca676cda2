import GodwitBase
import GodwitCrypto

// Specs/keyring.md, "Identities": version u8, replica 16, X25519 public key 32 or hybrid one 1,216, Ed25519 one 32.
extension PublicIdentity: CustomStringConvertible {
  /// The size of the binary form.
  package var byteCount: Int { 49 + recipient.bytes.count }
  private static let textPrefix = "godwit"

  /// Reads the one-line text form that ``description`` gives.
  ///
  /// Throws `GodwitError` with the code `invalidKey` for any other text and for keys of an unsafe kind, and
  /// `unsupportedVersion` for an identity of a newer version.
  public init(_ text: String) throws {
    let (prefix, data) = try Bech32.decode(Array(text.utf8), what: "the identity")
    guard prefix == Self.textPrefix else {
      throw GodwitError(.invalidKey, "this is not a Godwit identity", hint: "one starts with godwit1")
    }
    var reader = ByteReader(data)
    do {
      try self.init(reading: &reader)
      try reader.expectEnd()
    } catch let error as GodwitError where error.code == .truncatedFile || error.code == .corruptFile {
      throw GodwitError(.invalidKey, "the identity has the wrong length", underlying: error)
    }
  }

  /// The one-line text form: Bech32 (BIP 173, without its length limit) with the prefix `godwit`.
  public var description: String {
    String(decoding: Bech32.encode(prefix: Self.textPrefix, data: binary), as: UTF8.self)
  }

  /// Throws `invalidKey`, `unsupportedVersion` or `truncatedFile`.
  package init(reading reader: inout ByteReader) throws {
    let version = try reader.byte()
    guard let kind = AgeKeyKind(identityVersion: version) else {
      throw GodwitError(
        .unsupportedVersion, "the identity has version \(version); this program knows versions 1 and 2",
        hint: "update Godwit here, or make the identity with the same version")
    }
    let replica = ReplicaID(try Identifier128(reading: &reader))
    let recipient = try AgeRecipient(kind, bytes: reader.raw(kind.publicKeyByteCount))
    try self.init(replica: replica, recipient: recipient, verificationKey: Array(reader.raw(32)))
  }

  package func encode(to writer: inout ByteWriter) {
    writer.byte(recipient.kind.identityVersion)
    replica.value.write(to: &writer)
    writer.raw(recipient.bytes)
    writer.raw(verificationKey)
  }

  var binary: [UInt8] {
    var writer = ByteWriter(capacity: byteCount)
    encode(to: &writer)
    return writer.bytes
  }
}
