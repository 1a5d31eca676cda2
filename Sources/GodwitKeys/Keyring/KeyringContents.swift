import GodwitBase
import GodwitCrypto

/// What a keyring keeps secret.
package struct KeyringContents: Sendable {
  /// This replica's private keys.
  package var identity: Identity
  /// The raw key of the database, 32 bytes.
  package var databaseKey: SecretBytes
  /// The first 16 bytes of the database file, once it exists.
  package var databaseSalt: [UInt8]?
  /// The group this replica belongs to, once it founded or joined one.
  package var group: GroupID?
  /// The members this replica trusts; the founder's own record is signed by the founder.
  package var members: [MemberRecord]
  /// What newer versions keep here, kept as it is.
  package var entries: [KeyringEntry]
  /// Which generation of the file this was read from; 0 for contents that were not read.
  package internal(set) var generation: UInt64 = 0

  package init(
    identity: Identity, databaseKey: SecretBytes = SecretBytes(random: 32), databaseSalt: [UInt8]? = nil,
    group: GroupID? = nil, members: [MemberRecord] = [], entries: [KeyringEntry] = []
  ) {
    self.identity = identity
    self.databaseKey = databaseKey
    self.databaseSalt = databaseSalt
    self.group = group
    self.members = members
    self.entries = entries
  }
}

/// One more thing a keyring holds; its tag says what it means (Specs/keyring.md, section "Entries").
package struct KeyringEntry: Equatable, Sendable {
  package let tag: UInt64
  package let bytes: SecretBytes

  package init(tag: UInt64, bytes: SecretBytes) {
    self.tag = tag
    self.bytes = bytes
  }
}

// Specs/keyring.md, section "Body".
extension KeyringContents {
  /// Without entries; version 2 has them behind.
  private static let version: UInt8 = 1
  private static let versionWithEntries: UInt8 = 2
  private static let entryCountMax = 1_024
  private static let databaseKeyByteCount = 32
  private static let databaseSaltByteCount = 16
  private static let memberCountMax = 2_048
  /// Of a member record beside its identity and the records that it says stay.
  private static let recordByteCountMax = 218

  /// The plaintext body; the caller seals it and wipes it.
  ///
  /// Throws `invalidArgument` for a key or salt of another size, `limitExceeded` for too many members.
  func encoded() throws -> [UInt8] {
    guard databaseKey.count == Self.databaseKeyByteCount,
      databaseSalt.map({ $0.count == Self.databaseSaltByteCount }) ?? true
    else { throw GodwitError(.invalidArgument, "the database key or salt has the wrong size") }
    guard members.count <= Self.memberCountMax else {
      throw GodwitError(.limitExceeded, "a keyring can hold \(Self.memberCountMax) member records at most")
    }
    guard entries.count <= Self.entryCountMax else {
      throw GodwitError(.limitExceeded, "a keyring can hold \(Self.entryCountMax) entries at most")
    }
    // All of the room at once: a buffer that grows leaves unwiped copies behind.
    let entryByteCount = entries.reduce(0) { $0 + $1.bytes.count + 20 }
    let memberByteCount = members.reduce(0) {
      $0 + $1.identity.byteCount + 32 * $1.staying.count + Self.recordByteCountMax
    }
    var writer = ByteWriter(capacity: 256 + memberByteCount + entryByteCount)
    writer.byte(entries.isEmpty ? Self.version : Self.versionWithEntries)
    identity.encode(to: &writer)
    databaseKey.withUnsafeBytes { writer.raw($0) }
    writer.byte(databaseSalt == nil ? 0 : 1)
    writer.raw(databaseSalt ?? [])
    writer.byte(group == nil ? 0 : 1)
    group?.value.write(to: &writer)
    writer.varint(members.count)
    for member in members { member.encode(to: &writer) }
    guard !entries.isEmpty else { return writer.bytes }
    writer.varint(entries.count)
    for entry in entries {
      writer.varint(entry.tag)
      writer.varint(entry.bytes.count)
      entry.bytes.withUnsafeBytes { writer.raw($0) }
    }
    return writer.bytes
  }

  /// Throws `unsupportedVersion` for a newer body, and the errors of ``ByteReader`` for a malformed one.
  ///
  /// - Parameter earlier: What stays of a keyring that was opened before, and is to stay of this one.
  init(decoding bytes: [UInt8], after earlier: OpenedKeyring? = nil) throws {
    var reader = ByteReader(bytes)
    let version = try reader.byte()
    guard version == Self.version || version == Self.versionWithEntries else {
      throw GodwitError(.unsupportedVersion, "the keyring's body has a version this program does not know")
    }
    identity = try Identity(reading: &reader)
    databaseKey = SecretBytes(copying: try reader.raw(Self.databaseKeyByteCount))
    databaseSalt = try Self.flag(&reader) ? Array(reader.raw(Self.databaseSaltByteCount)) : nil
    group = try Self.flag(&reader) ? GroupID(Identifier128(reading: &reader)) : nil
    members = try earlier?.members(reading: &reader, Self.readMembers) ?? Self.readMembers(&reader)
    entries = []
    if version == Self.versionWithEntries {
      let count = try reader.count(limit: Self.entryCountMax, "the number of entries")
      // Without any it is version 1: there is one form.
      guard count > 0 else { throw ByteReader.malformed("there are no entries where some belong") }
      for _ in 0..<count {
        entries.append(KeyringEntry(tag: try reader.varint(), bytes: SecretBytes(copying: try reader.lengthPrefixed())))
      }
    }
    try reader.expectEnd()
  }

  private static func readMembers(_ reader: inout ByteReader) throws -> [MemberRecord] {
    let count = try reader.count(limit: memberCountMax, "the number of members")
    return try (0..<count).map { _ in try MemberRecord(reading: &reader) }
  }

  private static func flag(_ reader: inout ByteReader) throws -> Bool {
    switch try reader.byte() {
    case 0: false
    case 1: true
    default: throw ByteReader.malformed("a flag is neither 0 nor 1")
    }
  }
}
