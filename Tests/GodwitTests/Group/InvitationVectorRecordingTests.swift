import Foundation
import GodwitBase
import Testing

@testable import Godwit
@testable import GodwitEngine
@testable import GodwitCrypto
@testable import GodwitKeys

/// Makes the vectors anew, with new keys: `GODWIT_RECORD_GOLDEN=1 swift test --filter InvitationVectorRecordingTests`.
@Suite("Recording invitation vectors", .enabled(if: ProcessInfo.processInfo.environment["GODWIT_RECORD_GOLDEN"] != nil))
struct InvitationVectorRecordingTests {
  /// A founder who invites, and one who joins.
  private struct Scene {
    let group = Self.newGroup()
    let inviter: Identity
    let joiner: Identity

    init(postQuantum: Bool = false) throws {
      inviter = try Self.newIdentity(postQuantum ? .hybrid : .x25519)
      joiner = try Self.newIdentity(postQuantum ? .hybrid : .x25519)
    }

    static func newIdentity(_ kind: AgeKeyKind = .x25519) throws -> Identity {
      var generator = SystemRandomNumberGenerator()
      return try Identity.generate(replica: ReplicaID(Identifier128.random(using: &generator)), kind: kind)
    }

    static func newGroup() -> GroupID {
      var generator = SystemRandomNumberGenerator()
      return GroupID(Identifier128.random(using: &generator))
    }

    func record(
      _ identity: Identity, _ name: String, _ status: MemberRecord.Status = .active, at milliseconds: Int64 = 1_000,
      by issuer: Identity? = nil, of group: GroupID? = nil, ground: MemberRecord? = nil, staying: [MemberRecord] = []
    ) throws -> MemberRecord {
      try MemberRecord.issue(
        group: group ?? self.group, identity: identity.publicIdentity, name: name, status: status, at: milliseconds,
        by: issuer ?? inviter, ground: ground?.hash, staying: Set(staying.map(\.hash)))
    }

    func members(_ more: MemberRecord...) throws -> [MemberRecord] {
      var members = [try record(inviter, "desk"), try record(joiner, "laptop", at: 2_000)]
      for record in more { members = members.filter { $0.subject != record.subject } + [record] }
      return members.sorted { $0.subject < $1.subject }
    }

    /// What is under the signature, of these parts.
    func content(
      magic: String = "GODWITIV", version: UInt8 = 1, inviter: PublicIdentity? = nil, members: [MemberRecord],
      count: Int? = nil, rest: [UInt8] = []
    ) -> [UInt8] {
      var writer = ByteWriter()
      writer.raw(Array(magic.utf8))
      writer.byte(version)
      group.value.write(to: &writer)
      (inviter ?? self.inviter.publicIdentity).encode(to: &writer)
      writer.varint(count ?? members.count)
      for member in members { member.encode(to: &writer) }
      return writer.bytes + rest
    }

    func sign(_ content: [UInt8], by signer: Identity? = nil) throws -> [UInt8] {
      content + (try (signer ?? inviter).sign(Array("godwit invitation v1\0".utf8) + content))
    }

    func seal(_ plaintext: [UInt8]) throws -> [UInt8] {
      try Forgery.seal(plaintext, to: [joiner.publicIdentity.recipient])
    }

    func sealed(_ members: [MemberRecord]) throws -> [UInt8] { try seal(sign(content(members: members))) }

    /// As a member's program writes it.
    func invitation(_ records: RosterRecords) throws -> [UInt8] {
      try Invitation(group: group, inviter: inviter.publicIdentity, records: records)
        .seal(to: joiner.publicIdentity.recipient, signedBy: inviter)
    }
  }

  private func write(_ name: String, _ vector: InvitationVector) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    let folder = InvitationVectorTests.folder
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try (encoder.encode(vector) + Data("\n".utf8)).write(to: URL(fileURLWithPath: "\(folder)/\(name).json"))
  }

  private func good(_ name: String, _ title: String, _ scene: Scene, _ file: [UInt8]) async throws {
    var vector = InvitationVector(title, scene.joiner, file)
    let (folder, path, invitation) = try vector.place()
    let replica = try await Replica.join(at: path, invitation: .file(invitation), inviter: .trustOnFirstUse)
    vector.content = try await InvitationVector.Content(replica, inviter: scene.inviter.publicIdentity)
    await replica.close()
    withExtendedLifetime(folder) {}
    try write("open-\(name)", vector)
  }

  private func bad(
    _ name: String, _ title: String, _ scene: Scene, _ code: GodwitError.Code, _ file: [UInt8]
  ) throws {
    var vector = InvitationVector(title, scene.joiner, file)
    vector.error = code.rawValue
    try write("refuse-\(name)", vector)
  }

  @Test("all of them")
  func record() async throws {
    let scene = try Scene()
    try await good(
      "founder", "by the founder of a group of one", scene, scene.invitation(RosterRecords(members: scene.members())))
    try recordSealing(scene)
    try recordForm(scene)
    try recordMembers(scene)
    try await recordHistories(scene)
    try await recordPostQuantum(scene)
  }

  private func recordSealing(_ scene: Scene) throws {
    let plaintext = try scene.sign(scene.content(members: scene.members()))
    let sealed = try scene.seal(plaintext)
    let header = sealed.count - (plaintext.count + 16 + 16)
    try bad("empty", "no bytes", scene, .truncatedFile, [])
    try bad("no-age", "no age file", scene, .corruptFile, Array("hello\n".utf8))
    try bad("age-version", "another version of age", scene, .unsupportedVersion, Array("age-encryption.org/v2\n".utf8))
    try bad("cut-header", "cut in the age header", scene, .truncatedFile, Array(sealed.prefix(header / 2)))
    try bad("cut-nonce", "cut behind the age header", scene, .truncatedFile, Array(sealed.prefix(header)))
    try bad("cut", "the last byte is missing", scene, .corruptFile, sealed.dropLast())
    try bad("extended", "a byte follows", scene, .corruptFile, sealed + [0])
    try bad("joined", "the invitation comes twice", scene, .corruptFile, sealed + sealed)
    try bad("changed", "a byte of the payload was changed", scene, .corruptFile, Forgery.flip(sealed, fromEnd: 100))
    try bad(
      "changed-mac", "the age header's MAC was changed", scene, .corruptFile,
      Forgery.flip(sealed, fromEnd: sealed.count - header + 3))
    try bad("armored", "armored", scene, .unsupportedVersion, Forgery.armor(sealed))
    let stranger = try AgeIdentity(secret: SecretBytes(random: 32)).recipient
    try bad(
      "other-recipient", "sealed to somebody else", scene, .notARecipient, Forgery.seal(plaintext, to: [stranger]))
    try bad(
      "two-recipients", "sealed to somebody else, too", scene, .corruptFile,
      Forgery.seal(plaintext, to: [scene.joiner.publicIdentity.recipient, stranger]))
    let hybrid = try AgeIdentity(.hybrid, secret: SecretBytes(random: 32)).recipient
    try bad(
      "mixed-recipients", "sealed to a hybrid key, too", scene, .corruptFile,
      Forgery.sealMixed(plaintext, to: [scene.joiner.publicIdentity.recipient, hybrid]))
  }

  private func recordForm(_ scene: Scene) throws {
    let members = try scene.members()
    func signed(_ content: [UInt8]) throws -> [UInt8] { try scene.seal(scene.sign(content)) }
    try bad("nothing", "nothing is sealed", scene, .corruptFile, scene.seal([]))
    try bad(
      "magic", "another magic number", scene, .corruptFile, signed(scene.content(magic: "GODWITIW", members: members)))
    try bad(
      "container", "a sync file's beginning", scene, .corruptFile,
      signed(Array("GODWIT\0\u{1}".utf8) + [UInt8](repeating: 0, count: 100)))
    for version: UInt8 in [0, 3] {
      try bad(
        "version-\(version)", "version \(version)", scene, .unsupportedVersion,
        signed(scene.content(version: version, members: members)))
    }
    try bad(
      "two-forms", "version 2 without histories or name records", scene, .corruptFile,
      signed(scene.content(version: 2, members: members, rest: [0, 0, 0])))
    try bad(
      "rest", "a byte behind the members", scene, .corruptFile, signed(scene.content(members: members, rest: [0])))
    try bad(
      "count", "one more member than there are records", scene, .truncatedFile,
      signed(scene.content(members: members, count: 3)))
    try bad(
      "count-limit", "more than 1,024 members", scene, .limitExceeded,
      signed(scene.content(members: members, count: 1_025)))
    let plaintext = try scene.sign(scene.content(members: members))
    try bad(
      "signature", "the signature was changed", scene, .invalidSignature,
      scene.seal(Forgery.flip(plaintext, fromEnd: 1)))
    try bad(
      "content", "a member's signature was changed, and not the inviter's", scene, .invalidSignature,
      scene.seal(Forgery.flip(plaintext, fromEnd: 65)))
    try bad(
      "signer", "signed by the joiner, in the inviter's name", scene, .invalidSignature,
      scene.seal(scene.sign(scene.content(members: members), by: scene.joiner)))
    try bad(
      "cut-signature", "the signature's last byte is missing", scene, .truncatedFile,
      scene.seal(plaintext.dropLast()))
    try bad(
      "statement", "the inviter's signature is that of a sync file", scene, .invalidSignature,
      scene.seal(
        scene.content(members: members)
          + scene.inviter.sign(Array("godwit sync file v1\0".utf8) + scene.content(members: members))))
    var weak = ByteWriter()
    scene.inviter.publicIdentity.encode(to: &weak)
    let key = weak.bytes.count - 32
    let small = Array(weak.bytes[..<key]) + [1] + [UInt8](repeating: 0, count: 31)
    let content = scene.content(members: members)
    let place = 8 + 1 + 16
    try bad(
      "small-order", "an inviter whose signing key is of small order", scene, .invalidKey,
      scene.seal(scene.sign(Array(content[..<place]) + small + content[(place + small.count)...])))
  }

  private func recordMembers(_ scene: Scene) throws {
    let stranger = try Scene.newIdentity()
    let members = try scene.members()
    try bad("order", "members out of order", scene, .corruptFile, scene.sealed(members.reversed()))
    try bad("twice", "a member comes twice", scene, .corruptFile, scene.sealed([members[0], members[0], members[1]]))
    try bad(
      "no-joiner", "the joiner is no member", scene, .unknownSender,
      scene.sealed(members.filter { $0.subject != scene.joiner.replica }))
    try bad(
      "no-inviter", "the inviter is no member", scene, .corruptFile,
      scene.sealed(members.filter { $0.subject != scene.inviter.replica }))
    try bad(
      "joiner-removed", "the joiner was removed", scene, .unknownSender,
      scene.sealed(scene.members(scene.record(scene.joiner, "laptop", .removed, at: 3_000))))
    let founder = try Scene.newIdentity()
    let added = try scene.record(scene.inviter, "desk", at: 1_500, by: founder)
    let joined = try scene.record(scene.joiner, "laptop", at: 2_000, ground: added)
    let removed = try scene.record(scene.inviter, "desk", .removed, at: 3_000, by: founder, staying: [joined])
    let deciding = [try scene.record(founder, "attic", by: founder), joined, removed]
    try bad(
      "inviter-removed", "the inviter was removed", scene, .unknownSender,
      scene.invitation(
        RosterRecords(members: deciding.sorted { $0.subject < $1.subject }, furtherMembers: [added])))
    try bad(
      "issuer", "the joiner's record is by somebody who was never a member", scene, .corruptFile,
      scene.sealed(scene.members(scene.record(scene.joiner, "laptop", at: 2_000, by: stranger))))
    var forged = ByteWriter()
    for member in members { member.encode(to: &forged) }
    try bad(
      "record", "a record's signature was changed, and the inviter signed that", scene, .corruptFile,
      scene.seal(
        scene.sign(scene.content(members: [], count: 2) + Forgery.flip(forged.bytes, fromEnd: 1))))
    try bad(
      "other-group", "the joiner's record is of another group", scene, .corruptFile,
      scene.sealed(scene.members(scene.record(scene.joiner, "laptop", at: 2_000, of: Scene.newGroup()))))
    try bad(
      "record-beyond-the-end", "the joiner's record is dated 2^62", scene, .corruptFile,
      scene.sealed(scene.members(scene.record(scene.joiner, "laptop", at: 1 << 62))))
    let other = try Identity.generate(replica: scene.joiner.replica)
    try bad(
      "other-joiner", "a member has the joiner's replica ID and other keys", scene, .corruptFile,
      scene.sealed(scene.members(scene.record(other, "laptop", at: 2_000))))
    let double = try Identity.generate(replica: scene.inviter.replica)
    try bad(
      "other-inviter", "a member has the inviter's replica ID and other keys", scene, .corruptFile,
      scene.sealed(scene.members(scene.record(double, "desk", by: double))))
    let hybrid = try Scene.newIdentity(.hybrid)
    try bad(
      "other-kind", "a member has keys of the other kind", scene, .corruptFile,
      scene.sealed(scene.members(scene.record(hybrid, "attic", at: 3_000))))
  }

  private func recordHistories(_ scene: Scene) async throws {
    let former = try Identity.generate(replica: scene.inviter.replica)
    var history = IdentityHistory(former.publicIdentity)
    try history.append(scene.inviter, after: former, group: scene.group, at: 1_500)
    let removed = try Scene.newIdentity()
    let members = try [
      scene.record(former, "desk", by: former), scene.record(removed, "attic", .removed, at: 1_700, by: former),
      scene.record(scene.joiner, "laptop", at: 2_000),
    ].sorted { $0.subject < $1.subject }
    let name = try NameRecord.issue(
      group: scene.group, subject: scene.inviter.replica, name: "Schreibtisch", at: 3_000, by: scene.inviter)
    try await good(
      "histories", "by one who replaced its keys and was renamed, with a member that was removed", scene,
      scene.invitation(RosterRecords(members: members, names: [name], histories: [history])))
    try await good(
      "names", "with a name record alone", scene,
      scene.invitation(RosterRecords(members: scene.members(), names: [name])))
    func content(_ histories: [UInt8], _ names: [UInt8]) throws -> [UInt8] {
      var rest = ByteWriter()
      rest.lengthPrefixed(histories)
      rest.lengthPrefixed(names)
      rest.lengthPrefixed([])
      return try scene.seal(scene.sign(scene.content(version: 2, members: members, rest: rest.bytes)))
    }
    let (histories, names) = (RosterRecords.encode([history]), RosterRecords.encode([name]))
    for (form, place) in [("successor-before", 65), ("successor-new", 1)] {
      try bad(
        form, "whose successor lacks a signature", scene, .corruptFile,
        content(Forgery.flip(histories, fromEnd: place), names))
    }
    try bad(
      "no-history", "whose inviter has other keys than its record, and no history", scene, .corruptFile,
      content([], names))
    try bad(
      "name", "a name record's signature was changed", scene, .corruptFile,
      content(histories, Forgery.flip(names, fromEnd: 1)))
    try bad("histories-rest", "a byte behind the histories", scene, .corruptFile, content(histories + [0], names))
    try bad("names-none", "a list of name records without any", scene, .corruptFile, content(histories, [0]))
    try bad("histories-limit", "more than 1,024 histories", scene, .limitExceeded, content([0x81, 0x08], names))
  }

  private func recordPostQuantum(_ classical: Scene) async throws {
    let scene = try Scene(postQuantum: true)
    try await good(
      "post-quantum", "to a post-quantum group", scene, scene.invitation(RosterRecords(members: scene.members())))
    let plaintext = try scene.sign(scene.content(members: scene.members()))
    let weak = classical.joiner.publicIdentity.recipient
    try bad(
      "post-quantum-classical", "of a post-quantum group, sealed to a classical key alone", scene, .notARecipient,
      Forgery.seal(plaintext, to: [weak]))
    try bad(
      "post-quantum-mixed", "of a post-quantum group, sealed to a classical key, too", scene, .corruptFile,
      Forgery.sealMixed(plaintext, to: [scene.joiner.publicIdentity.recipient, weak]))
  }
}
