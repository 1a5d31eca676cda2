import GodwitBase
import GodwitCrypto

// Specs/membership.md, "Where records are".
extension KeyringContents {
  private static let formerIdentitiesTag: UInt64 = 17
  private static let historiesTag: UInt64 = 18
  private static let namesTag: UInt64 = 19
  private static let furtherTag: UInt64 = 20
  private static let identityByteCount = 81
  /// Of old keys so many are kept.
  private static let formerIdentityCountMax = 32

  /// What is known of the group's members.
  ///
  /// Reading throws `damagedKeyring` for an entry that is not of its form.
  package var roster: RosterRecords {
    get throws {
      let roster = RosterRecords(
        members: members, names: try read(Self.namesTag) { try RosterRecords.names($0) } ?? [],
        histories: try read(Self.historiesTag) { try RosterRecords.histories($0) } ?? [])
      return try read(Self.furtherTag) { bytes in
        var whole = roster
        try whole.readFurther(bytes)
        return whole
      } ?? roster
    }
  }

  package mutating func setRoster(_ roster: RosterRecords) {
    members = roster.members
    setEntry(Self.namesTag, roster.names.isEmpty ? nil : RosterRecords.encode(roster.names))
    setEntry(Self.historiesTag, roster.histories.isEmpty ? nil : RosterRecords.encode(roster.histories))
    setEntry(Self.furtherTag, roster.hasFurther ? roster.encodeFurther() : nil)
  }

  /// The identities that this replica had before, the latest first: they open what was sealed to them.
  ///
  /// Reading throws `damagedKeyring` for an entry that is not of its form.
  package var formerIdentities: [Identity] {
    get throws {
      try read(Self.formerIdentitiesTag) { bytes in
        var copy = Array(bytes)
        defer { copy.wipe() }
        return try Self.identities(copy)
      } ?? []
    }
  }

  private static func identities(_ bytes: [UInt8]) throws -> [Identity] {
    var reader = ByteReader(bytes)
    var identities: [Identity] = []
    while !reader.isAtEnd { identities.append(try Identity(reading: &reader)) }
    return identities
  }

  /// What opens files for this replica, the present key first, the keys of epochs last.
  package var ageIdentities: [AgeIdentity] {
    get throws {
      [identity.ageIdentity] + (try formerIdentities.map(\.ageIdentity)) + (try epochs.map(\.key.identity))
    }
  }

  /// Takes another identity and keeps the present one among the former.
  package mutating func replaceIdentity(by next: Identity) throws {
    let former = try [identity] + formerIdentities.prefix(Self.formerIdentityCountMax - 1)
    // All of the room at once, so that growing leaves no copy behind.
    var writer = ByteWriter(capacity: former.count * Self.identityByteCount)
    for identity in former { identity.encode(to: &writer) }
    var bytes = writer.bytes
    writer = ByteWriter()
    setEntry(Self.formerIdentitiesTag, bytes)
    bytes.wipe()
    identity = next
  }

  func read<Output>(
    _ tag: UInt64, _ read: (UnsafeRawBufferPointer) throws -> Output
  ) throws -> Output? {
    guard let entry = entries.first(where: { $0.tag == tag }) else { return nil }
    do {
      return try entry.bytes.withUnsafeBytes(read)
    } catch let error as GodwitError {
      throw GodwitError(
        .damagedKeyring, "an entry of the keyring is not of its form", underlying: error)
    }
  }

  mutating func setEntry(_ tag: UInt64, _ bytes: [UInt8]?) {
    entries.removeAll { $0.tag == tag }
    if let bytes { entries.append(KeyringEntry(tag: tag, bytes: SecretBytes(copying: bytes))) }
  }
}
