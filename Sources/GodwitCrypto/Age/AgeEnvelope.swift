import GodwitBase

/// An age file whose header has been read and whose payload has not: what can be known without any key.
package final class AgeEnvelope {
  /// The stanzas' types in their order, each of printable ASCII.
  package let stanzaTypes: [String]
  /// The size of the header as it is sealed, without armor.
  package let headerByteCount: Int
  package let isArmored: Bool

  let header: AgeHeader
  /// Stands at the payload.
  let payload: LineSource

  /// With `allowsArmor` the file may also be armored.
  ///
  /// Throws `unsupportedVersion` for another version of age, `truncatedFile`, `limitExceeded`, or `corruptFile` for a
  /// header that is malformed. Whether it was changed shows only to who has a key.
  package init(_ source: any ByteSource, allowsArmor: Bool = false) throws {
    let bytes = allowsArmor ? try AgeArmorReader.unwrappingArmor(source) : source
    isArmored = bytes is AgeArmorReader
    payload = LineSource(bytes)
    header = try AgeHeader(reading: payload)
    stanzaTypes = header.stanzas.map(\.type)
    headerByteCount = header.encoded.count
  }

  /// Those of the identities, the present one first, that are tried: each is tried at each stanza, and nobody vouches
  /// for a file before one fits. With few recipients all are.
  package func worthTrying(_ identities: [AgeIdentity]) -> ArraySlice<AgeIdentity> {
    identities.prefix(max(1, Self.tryLimit / max(1, stanzaTypes.count)))
  }

  /// Tries of a key at a stanza for one file, some 0.1 ms each.
  package static let tryLimit = 8_192

  /// Refuses a file with stanzas of other types than the kind's: whoever can open one of those has the file key, so
  /// the file is no better protected than by the weakest.
  ///
  /// Throws `corruptFile`.
  package func requireOnly(_ kind: AgeKeyKind) throws {
    guard let other = stanzaTypes.first(where: { $0 != kind.stanzaType }) else { return }
    throw GodwitError(
      .corruptFile, "the file is sealed to a key of another kind, too: \(other) beside \(kind.stanzaType)",
      hint: "do not trust it; ask its sender to export again with an unchanged program")
  }
}

extension AgeKeyKind {
  /// The type of the stanzas that wrap a file key to such a key.
  package var stanzaType: String {
    switch self {
    case .x25519: X25519Stanza.type
    case .hybrid: HybridStanza.type
    }
  }
}
