import GodwitBase
import GodwitCrypto
import GodwitKeys

/// What lets a second machine join a group: the group's name and members, signed by the inviter and sealed to the
/// one identity it is for (Specs/sync-file.md, "Invitation").
package struct Invitation {
  package let group: GroupID
  package let inviter: PublicIdentity
  /// All that the inviter knows of the members.
  let records: RosterRecords

  private static let magic = Array("GODWITIV".utf8)
  /// Without names, histories and further records; version 2 has them behind.
  private static let version: UInt8 = 1
  private static let versionWithHistories: UInt8 = 2
  private static let signatureContext = Array("godwit invitation v1\0".utf8)
  package static let byteLimit = Keyring.byteCountMax

  package func seal(to recipient: AgeRecipient, signedBy identity: Identity) throws -> [UInt8] {
    var writer = ByteWriter()
    writer.raw(Self.magic)
    let isSimple = records.names.isEmpty && records.histories.isEmpty && !records.hasFurther
    writer.byte(isSimple ? Self.version : Self.versionWithHistories)
    group.value.write(to: &writer)
    inviter.encode(to: &writer)
    writer.varint(records.members.count)
    for member in records.members { member.encode(to: &writer) }
    if !isSimple {
      writer.lengthPrefixed(records.histories.isEmpty ? [] : RosterRecords.encode(records.histories))
      writer.lengthPrefixed(records.names.isEmpty ? [] : RosterRecords.encode(records.names))
      writer.lengthPrefixed(records.encodeFurther())
    }
    let signature = try identity.sign(Self.signatureContext + writer.bytes)
    let sink = MemorySink()
    let sealer = try AgeSealer(recipients: [recipient], to: sink)
    try sealer.write(writer.bytes + signature)
    try sealer.finish()
    return sink.bytes
  }

  package init(group: GroupID, inviter: PublicIdentity, records: RosterRecords) {
    self.group = group
    self.inviter = inviter
    self.records = records
  }

  package init(opening bytes: [UInt8], with identity: Identity) throws {
    let envelope = try AgeEnvelope(MemorySource(bytes))
    let opener = try AgeOpener(envelope, identities: [identity.ageIdentity])
    guard envelope.stanzaTypes == [identity.ageIdentity.recipient.kind.stanzaType] else {
      throw GodwitError(
        .corruptFile, "the invitation is sealed to others, too", hint: "ask the inviter for the file itself")
    }
    let content = try opener.readToEnd(limit: Self.byteLimit)
    guard content.count > Self.magic.count + 64, content.starts(with: Self.magic) else {
      throw GodwitError(.corruptFile, "this is no invitation", hint: "ask for the file that godwit member add wrote")
    }
    var reader = ByteReader(content[Self.magic.count..<content.count - 64])
    let version = try reader.byte()
    guard version == Self.version || version == Self.versionWithHistories else {
      throw GodwitError(.unsupportedVersion, "the invitation is of another version", hint: "update this program")
    }
    group = GroupID(try Identifier128(reading: &reader))
    inviter = try PublicIdentity(reading: &reader)
    let count = try reader.count(limit: RosterRecords.countMax, "members")
    var records = RosterRecords(members: try (0..<count).map { _ in try MemberRecord(reading: &reader) })
    if version == Self.versionWithHistories {
      let (histories, names) = (try reader.lengthPrefixed(), try reader.lengthPrefixed())
      let further = try reader.lengthPrefixed()
      if !histories.isEmpty { records.histories = try RosterRecords.histories(histories) }
      if !names.isEmpty { records.names = try RosterRecords.names(names) }
      if !further.isEmpty { try records.readFurther(further) }
      guard !histories.isEmpty || !names.isEmpty || !further.isEmpty else {
        throw ByteReader.malformed("an invitation of two forms")
      }
    }
    self.records = records
    try reader.expectEnd()
    let signed = Self.signatureContext + content.dropLast(64)
    guard inviter.verifies(signature: Array(content.suffix(64)), of: signed) else {
      throw GodwitError(.invalidSignature, "the invitation's signature does not fit its content")
    }
  }

  /// The roster the invitation stands for, if the inviter and the invited are both in it. That the inviter is who they
  /// are said to be is for people to compare; all else is the inviter's word.
  package func roster(for identity: Identity) throws -> Roster {
    let roster = Roster(group: group, trusted: records)
    guard roster.records == records, roster.isSigned else {
      throw GodwitError(.corruptFile, "the invitation's list of members contradicts itself")
    }
    guard try roster.sender(inviter.replica).identity == inviter,
      try roster.sender(identity.replica).identity == identity.publicIdentity
    else {
      throw GodwitError(
        .corruptFile, "the invitation is not for this identity, or its group has keys of another kind",
        hint: "ask for an invitation for what godwit identity prints here")
    }
    return roster
  }
}
