import Foundation
import GodwitBase
import Testing

@testable import Godwit
@testable import GodwitEngine
@testable import GodwitCrypto
@testable import GodwitKeys

@Suite("A post-quantum group")
struct PostQuantumTests {
  private let group: TestGroup
  private let file: String

  init() async throws {
    group = try await TestGroup(2, postQuantum: true)
    file = group.folder.file("changes")
    try await group[0].write { try $0.insert(Note(title: "small")) }
    _ = try await group[0].export(to: .file(file))
  }

  private func stanzaTypes(_ path: String) throws -> Set<String> {
    Set(try AgeEnvelope(MemorySource(Forgery.bytes(path))).stanzaTypes)
  }

  private func save(_ bytes: [UInt8], _ name: String) throws -> String {
    try Data(bytes).write(to: URL(fileURLWithPath: group.folder.file(name)))
    return group.folder.file(name)
  }

  @Test("exchanges files and state files, all sealed to hybrid keys alone")
  func exchange() async throws {
    #expect(group[0].identity.isPostQuantum && group[1].identity.isPostQuantum)
    #expect(try stanzaTypes(file) == ["mlkem768x25519"])
    #expect(try await group[1].import(from: .file(file)).applied.transactions == 1)
    let stateFile = group.folder.file("stateFile")
    _ = try await group[1].exportState(to: .file(stateFile))
    #expect(try stanzaTypes(stateFile) == ["mlkem768x25519"])
    #expect(try await group[0].import(from: .file(stateFile)).applied.duplicates == 1)
    #expect(try await group.digests().count == 1)
  }

  @Test("seals invitations to hybrid keys, too")
  func invitation() throws {
    #expect(try stanzaTypes(group.folder.file("replica-1.invitation")) == ["mlkem768x25519"])
  }

  @Test("takes no classical identity, nor a classical group a post-quantum one")
  func otherKinds() async throws {
    let other = try await TestGroup(1)
    for (inviter, identity) in [(group[0], other[0].identity), (other[0], group[0].identity)] {
      let path = group.folder.file("invitation")
      let error = await error {
        try await inviter.members.invite(identity, name: "guest", verification: .trustOnFirstUse, to: .file(path))
      }
      #expect(error?.code == .invalidArgument)
      #expect(error?.hint?.contains("godwit identity") == true)
      #expect(!FileManager.default.fileExists(atPath: path))
      #expect(try await !inviter.members.list().contains { $0.name == "guest" })
    }
  }

  @Test("ignores a member record of the other kind, whoever signed it")
  func roster() throws {
    let keys = try Forgery.keys(of: group[0])
    let stranger = try Identity.generate(replica: ReplicaID(Identifier128(high: 1, low: 1)))
    let record = try MemberRecord.issue(
      group: group[0].group, identity: stranger.publicIdentity, name: "weak", status: .active, at: 1 << 61,
      by: keys.identity)
    var roster = Roster(group: group[0].group, trusted: try keys.roster)
    let isTaken = roster.merge(RosterRecords(members: [record]), isVouchedFor: true)
    #expect(!isTaken)
    #expect(roster.active.count == 2)
  }

  @Test("refuses a file that is sealed to a classical key, too, or to one alone")
  func downgrade() async throws {
    let sender = try Forgery.keys(of: group[0]).identity
    let reader = try Forgery.keys(of: group[1]).identity
    let classical = try AgeIdentity(secret: SecretBytes(random: 32)).recipient
    let container = try Forgery.container(Forgery.bytes(file), sender)
    let before = try await group[1].maintenance.digest()
    // As many stanzas as the header lists recipients, so that the count does not give it away.
    for recipients in [[reader.ageIdentity.recipient, classical], [classical, reader.ageIdentity.recipient]] {
      let path = try save(Forgery.sealMixed(container, to: recipients), "mixed")
      let error = await error { try await group[1].import(from: .file(path)) }
      #expect(error?.code == .corruptFile)
      #expect(error?.message.contains("another kind") == true)
      #expect(error?.hint != nil)
    }
    let path = try save(Forgery.seal(container, to: [classical]), "classical")
    #expect(await code { try await group[1].import(from: .file(path)) } == .notARecipient)
    #expect(try await group[1].maintenance.digest() == before)
    #expect(try await group[1].import(from: .file(file)).applied.transactions == 1)
  }

  @Test("a classical group refuses a file with a hybrid stanza beside its own")
  func classicalGroup() async throws {
    let other = try await TestGroup(2)
    try await other[0].write { try $0.insert(Note()) }
    let path = other.folder.file("theirs")
    _ = try await other[0].export(to: .file(path))
    let keys = try Forgery.keys(of: other[1]).identity
    let hybrid = try AgeIdentity(.hybrid, secret: SecretBytes(random: 32)).recipient
    let container = try Forgery.container(Forgery.bytes(path), keys)
    let mixed = try save(Forgery.sealMixed(container, to: [keys.ageIdentity.recipient, hybrid]), "mixed")
    #expect(await code { try await other[1].import(from: .file(mixed)) } == .corruptFile)
  }

  @Test("an invitation that somebody else can open, too, is refused")
  func sharedInvitation() async throws {
    let path = group.folder.file("third")
    let third = try await Replica.identity(at: path, postQuantum: true)
    let invitation = group.folder.file("third.invitation")
    try await group[0].members.invite(third, name: "third", verification: .trustOnFirstUse, to: .file(invitation))
    let keys = try Keyring.open(at: KeyringLocation(keyring: "\(path)/keyring", machineKey: "\(path)/machine.key"))
    let content = try Forgery.container(Forgery.bytes(invitation), keys.identity)
    let classical = try AgeIdentity(secret: SecretBytes(random: 32)).recipient
    let hybrid = try AgeIdentity(.hybrid, secret: SecretBytes(random: 32)).recipient
    for other in [classical, hybrid] {
      let shared = try save(Forgery.sealMixed(content, to: [third.recipient, other]), "shared")
      #expect(
        await code { try await Replica.join(at: path, invitation: .file(shared), inviter: .trustOnFirstUse) }
          == .corruptFile)
    }
    let joined = try await Replica.join(at: path, invitation: .file(invitation), inviter: .trustOnFirstUse)
    #expect(joined.identity.isPostQuantum)
    await joined.close()
  }

  @Test("an identity keeps its kind")
  func kept() async throws {
    let path = group.folder.file("classical")
    #expect(try await !Replica.identity(at: path).isPostQuantum)
    #expect(await code { try await Replica.identity(at: path, postQuantum: true) } == .invalidArgument)
    #expect(
      await code { try await Replica.open(at: path, models: [], configuration: .init(isPostQuantum: true)) }
        == .invalidArgument)
    #expect(try await !Replica.identity(at: path).isPostQuantum)
    #expect(try await Replica.identity(at: group[0].path).isPostQuantum)
  }

  @Test("opens anew with its keyring")
  func reopened() async throws {
    await group[1].close()
    let replica = try await TestGroup.open(group[1].path, group.clock)
    #expect(try await replica.import(from: .file(file)).applied.transactions == 1)
    await replica.close()
  }
}
