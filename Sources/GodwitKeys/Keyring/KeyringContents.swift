import GodwitBase

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

  package init(
    identity: Identity, databaseKey: SecretBytes = SecretBytes(random: 32), databaseSalt: [UInt8]? = nil,
    group: GroupID? = nil, members: [MemberRecord] = []
  ) {
    self.identity = identity
    self.databaseKey = databaseKey
    self.databaseSalt = databaseSalt
    self.group = group
    self.members = members
  }
}

// Specs/keyring.md, section "Body".
extension KeyringContents {
  private static let version: UInt8 = 1
  private static let databaseKeyByteCount = 32
  private static let databaseSaltByteCount = 16
  private static let memberCountMax = 2_048
  private static let memberByteCountMax = 264

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
    // All of the room at once: a buffer that grows leaves unwiped copies behind.
    var writer = ByteWriter(capacity: 256 + members.count * Self.memberByteCountMax)
    writer.byte(Self.version)
    identity.encode(to: &writer)
    databaseKey.withUnsafeBytes { writer.raw($0) }
    writer.byte(databaseSalt == nil ? 0 : 1)
    writer.raw(databaseSalt ?? [])
    writer.byte(group == nil ? 0 : 1)
    group?.value.write(to: &writer)
    writer.varint(members.count)
    for member in members { member.encode(to: &writer) }
    return writer.bytes
  }

  /// Throws `unsupportedVersion` for a newer body, and the errors of ``ByteReader`` for a malformed one.
  init(decoding bytes: [UInt8]) throws {
    var reader = ByteReader(bytes)
    guard try reader.byte() == Self.version else {
      throw GodwitError(.unsupportedVersion, "the keyring's body has a version this program does not know")
    }
    identity = try Identity(reading: &reader)
    databaseKey = SecretBytes(copying: try reader.raw(Self.databaseKeyByteCount))
    databaseSalt = try Self.flag(&reader) ? Array(reader.raw(Self.databaseSaltByteCount)) : nil
    group = try Self.flag(&reader) ? GroupID(Identifier128(reading: &reader)) : nil
    let count = try reader.count(limit: Self.memberCountMax, "the number of members")
    members = []
    for _ in 0..<count { members.append(try MemberRecord(reading: &reader)) }
    try reader.expectEnd()
  }

  private static func flag(_ reader: inout ByteReader) throws -> Bool {
    switch try reader.byte() {
    case 0: false
    case 1: true
    default: throw ByteReader.malformed("a flag is neither 0 nor 1")
    }
  }
}
