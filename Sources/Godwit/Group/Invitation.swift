import GodwitBase
import GodwitKeys

/// What lets a second machine join a group: the group's name and members, signed by the inviter and sealed to the
/// one identity it is for (Specs/sync-file.md, "Invitation").
struct Invitation {
  let group: GroupID
  let inviter: PublicIdentity
  let members: [MemberRecord]

  private static let magic = Array("GODWITIV".utf8)
  private static let version: UInt8 = 1
  private static let signatureContext = Array("godwit invitation v1\0".utf8)
  static let byteLimit = 4 << 20

  func seal(to recipient: AgeRecipient, signedBy identity: Identity) throws -> [UInt8] {
    var writer = ByteWriter()
    writer.raw(Self.magic)
    writer.byte(Self.version)
    group.value.write(to: &writer)
    inviter.encode(to: &writer)
    writer.varint(members.count)
    for member in members { member.encode(to: &writer) }
    let signature = try identity.sign(Self.signatureContext + writer.bytes)
    let sink = MemorySink()
    let sealer = try AgeSealer(recipients: [recipient], to: sink)
    try sealer.write(writer.bytes + signature)
    try sealer.finish()
    return sink.bytes
  }

  init(group: GroupID, inviter: PublicIdentity, members: [MemberRecord]) {
    self.group = group
    self.inviter = inviter
    self.members = members
  }

  init(opening bytes: [UInt8], with identity: Identity) throws {
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
    guard try reader.byte() == Self.version else {
      throw GodwitError(.unsupportedVersion, "the invitation is of another version", hint: "update this program")
    }
    group = GroupID(try Identifier128(reading: &reader))
    inviter = try PublicIdentity(reading: &reader)
    let count = try reader.count(limit: 1_024, "members")
    members = try (0..<count).map { _ in try MemberRecord(reading: &reader) }
    try reader.expectEnd()
    let signed = Self.signatureContext + content.dropLast(64)
    guard inviter.verifies(signature: Array(content.suffix(64)), of: signed) else {
      throw GodwitError(.invalidSignature, "the invitation's signature does not fit its content")
    }
  }

  /// The roster the invitation stands for, if the inviter and the invited are both in it.
  func roster(for identity: Identity) throws -> Roster {
    guard let founder = members.first(where: { $0.issuer == $0.identity.replica && $0.isSigned(by: $0.identity) }) else {
      throw GodwitError(.corruptFile, "the invitation names no founder of the group")
    }
    var roster = Roster(group: group, trusted: [founder])
    roster.merge(members)
    guard try roster.identity(of: inviter.replica) == inviter,
      try roster.identity(of: identity.replica) == identity.publicIdentity
    else {
      throw GodwitError(
        .corruptFile, "the invitation is not for this identity, or its group has keys of another kind",
        hint: "ask for an invitation for what godwit identity prints here")
    }
    return roster
  }
}
