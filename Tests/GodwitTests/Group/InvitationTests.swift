import Foundation
import Godwit
import Testing

@testable import Godwit
@testable import GodwitEngine
@testable import GodwitCrypto
@testable import GodwitKeys

@Suite("Joining a group")
struct InvitationTests {
  private let group: TestGroup
  private let path: String
  private let invitation: SyncSource
  private let joiner: PublicIdentity

  init() async throws {
    group = try await TestGroup(1)
    path = group.folder.file("laptop")
    invitation = .file(group.folder.file("invitation"))
    joiner = try await Replica.identity(at: path)
  }

  private func invite(_ verification: Member.Verification) async throws {
    try await group[0].members.invite(
      joiner, name: "laptop", verification: verification, to: .file(group.folder.file("invitation")))
  }

  private func keyring(_ path: String) throws -> [UInt8] { try Forgery.bytes("\(path)/keyring") }

  @Test("both compare the other's fingerprint, in digits or in words")
  func bothSides() async throws {
    try await invite(.fingerprint(joiner.fingerprintWords))
    let replica = try await Replica.join(
      at: path, invitation: invitation, inviter: .fingerprint(group[0].identity.fingerprint))
    #expect(replica.group == group[0].group)
    #expect(try await replica.members.list().map(\.name).sorted() == ["laptop", "replica-0"])
    await replica.close()
  }

  @Test("an inviter with another fingerprint is refused, and nothing is stored")
  func otherInviter() async throws {
    try await invite(.trustOnFirstUse)
    let before = try keyring(path)
    for told in [joiner.fingerprint, group[0].identity.fingerprint + "0", ""] {
      let error = await error {
        try await Replica.join(at: path, invitation: invitation, inviter: .fingerprint(told))
      }
      #expect(error?.code == .unverifiedIdentity && error?.hint?.contains("nothing was changed") == true)
    }
    #expect(try keyring(path) == before)
    #expect(!FileManager.default.fileExists(atPath: "\(path)/database"))
    let opened = try await Replica.join(
      at: path, invitation: invitation, inviter: .fingerprint(group[0].identity.fingerprintWords))
    await opened.close()
  }

  @Test("an identity with another fingerprint is not added, and no invitation is written")
  func otherJoiner() async throws {
    let before = try keyring(group[0].path)
    let error = await error { try await invite(.fingerprint(group[0].identity.fingerprint)) }
    #expect(error?.code == .unverifiedIdentity)
    #expect(try keyring(group[0].path) == before)
    #expect(!FileManager.default.fileExists(atPath: group.folder.file("invitation")))
    #expect(try await group[0].members.list().count == 1)
  }

  @Test("an invitation that somebody exchanged for their own on its way shows another fingerprint")
  func exchanged() async throws {
    let other = try await TestGroup(1)
    try await other[0].members.invite(
      joiner, name: "laptop", verification: .trustOnFirstUse, to: .file(group.folder.file("invitation")))
    #expect(
      await code {
        try await Replica.join(
          at: path, invitation: invitation, inviter: .fingerprint(group[0].identity.fingerprint))
      } == .unverifiedIdentity)
  }

  @Test("a person who compares sees the inviter's identity, and may say no")
  func compared() async throws {
    try await invite(.comparison { [joiner] in $0 == joiner })
    let inviter = group[0].identity
    #expect(
      await code { try await Replica.join(at: path, invitation: invitation, inviter: .comparison { _ in false }) }
        == .unverifiedIdentity)
    let replica = try await Replica.join(
      at: path, invitation: invitation, inviter: .comparison { $0 == inviter })
    await replica.close()
  }

  @Test("an invitation may be written again without stating anything new")
  func again() async throws {
    try await invite(.trustOnFirstUse)
    let members = try Forgery.keys(of: group[0]).members
    group.clock.advance(1_000)
    try await invite(.trustOnFirstUse)
    #expect(try Forgery.keys(of: group[0]).members == members)
    let replica = try await Replica.join(at: path, invitation: invitation, inviter: .trustOnFirstUse)
    await replica.close()
  }

  @Test("works after the founder was removed, members were renamed, and keys were replaced")
  func laterGroup() async throws {
    let group = try await TestGroup(3)
    try await group.introduce()
    try await group[1].members.remove("replica-0")
    try await group[1].members.rename("replica-2", to: "attic")
    try await group[1].members.rotateIdentity()
    try await group[1].members.rotateIdentity()
    try await group[1].write { try $0.insert(Note(title: "hello")) }
    let invitation = group.folder.file("invitation")
    try await group[1].members.invite(joiner, name: "laptop", verification: .trustOnFirstUse, to: .file(invitation))
    await
      (try Replica.join(
        at: path, invitation: .file(invitation), inviter: .fingerprint(group[1].identity.fingerprint))).close()
    let laptop = try await TestGroup.open(path)
    let members = try await laptop.members.list()
    #expect(Set(members.filter(\.isActive).map(\.name)) == ["replica-1", "attic", "laptop"])
    #expect(members.first { $0.name == "replica-1" }?.identity == group[1].identity)
    let file = group.folder.file("stateFile")
    _ = try await group[1].export(to: .file(file), for: "laptop")
    _ = try await laptop.import(from: .file(file))
    #expect(try await laptop.fetch(Note.all).map(\.title) == ["hello"])
    await laptop.close()
  }

  @Test("an invitation whose records do not prove each other is refused")
  func forgedRecords() async throws {
    let keys = try Forgery.keys(of: group[0])
    let stranger = try Identity.generate(replica: joiner.replica)
    let own = try #require(keys.members.first)
    func join(_ records: RosterRecords) async throws -> GodwitError.Code? {
      var records = records
      records.members.sort { $0.subject < $1.subject }
      let bytes = try Invitation(group: group[0].group, inviter: keys.identity.publicIdentity, records: records)
        .seal(to: joiner.recipient, signedBy: keys.identity)
      try Data(bytes).write(to: URL(fileURLWithPath: group.folder.file("invitation")))
      return await code { try await Replica.join(at: path, invitation: invitation, inviter: .trustOnFirstUse) }
    }
    let added = try MemberRecord.issue(
      group: group[0].group, identity: joiner, name: "laptop", status: .active, at: 5, by: keys.identity)
    let unsigned = try MemberRecord.issue(
      group: group[0].group, identity: joiner, name: "laptop", status: .active, at: 5, by: stranger)
    let name = try NameRecord.issue(
      group: group[0].group, subject: own.subject, name: "x", at: 1 << 61, by: stranger)
    var history = IdentityHistory(stranger.publicIdentity)
    try history.append(
      Identity.generate(replica: joiner.replica), after: stranger, group: group[0].group, at: 1)
    #expect(try await join(RosterRecords(members: [own])) == .unknownSender)
    #expect(try await join(RosterRecords(members: [own, unsigned])) == .corruptFile)
    #expect(try await join(RosterRecords(members: [own, added], names: [name])) == .corruptFile)
    #expect(try await join(RosterRecords(members: [own, added], histories: [history])) == .corruptFile)
    #expect(try await join(RosterRecords(members: [own, added])) == nil)
  }

  @Test("asks for a secret once, which may come through a pipe")
  func asksOnce() async throws {
    let folder = group.folder.file("asked")
    let asked = Heard()
    let keys = Replica.KeySource.keyring(openedBy: [
      .passphrase {
        asked.hear(1)
        return Array("correct horse".utf8)
      }
    ])
    let identity = try await Replica.identity(at: folder, key: keys)
    let file = group.folder.file("for-asked")
    try await group[0].members.invite(identity, name: "asked", verification: .trustOnFirstUse, to: .file(file))
    asked.values.withLock { $0 = [] }
    let replica = try await Replica.join(at: folder, invitation: .file(file), inviter: .trustOnFirstUse, key: keys)
    #expect(asked.values.withLock { $0.count } == 1)
    await replica.close()
  }
}
