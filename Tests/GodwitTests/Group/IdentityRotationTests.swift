import Foundation
import Godwit
import GodwitBase
import Testing

@testable import GodwitCrypto
@testable import GodwitKeys
@testable import GodwitSyncFile

@Suite("A replaced identity")
struct IdentityRotationTests {
  private let group: TestGroup

  init() async throws {
    group = try await TestGroup(3)
    try await group.introduce()
  }

  /// Writes a row on a replica and exports all it holds.
  private func file(_ title: String, by index: Int) async throws -> String {
    let file = group.folder.file(title)
    try await group[index].write { try $0.insert(Note(title: title)) }
    _ = try await group[index].export(to: .file(file), includesAll: true)
    return file
  }

  private func known(_ index: Int, by other: Int) async throws -> PublicIdentity? {
    try await group[other].members.list().first { $0.identity.replica == group[index].identity.replica }?.identity
  }

  /// The keys that a file is sealed to, as a reader sees them.
  private func recipients(_ path: String, for index: Int) throws -> Set<[UInt8]> {
    let keys = try Forgery.keys(of: group[index])
    return Set(try Forgery.header(Forgery.container(Forgery.bytes(path), keys.identity)).header.recipients.map(\.bytes))
  }

  @Test("is believed by the others with the next file, and what they send is sealed to it")
  func believed() async throws {
    let before = group[0].identity
    let after = try await group[0].members.rotateIdentity()
    #expect(before.replica == after.replica && before.recipient != after.recipient)
    #expect(before.verificationKey != after.verificationKey && group[0].identity == after)
    _ = try await group[1].import(from: .file(file("one", by: 0)))
    #expect(try await known(0, by: 1) == after)
    let answer = try await file("two", by: 1)
    #expect(try recipients(answer, for: 1).contains(after.recipient.bytes))
    #expect(try !recipients(answer, for: 1).contains(before.recipient.bytes))
    _ = try await group[0].import(from: .file(answer))
    #expect(try await group[0].maintenance.digest() == group[1].maintenance.digest())
    await group[0].close()
    let again = try await TestGroup.open(group[0].path)
    #expect(again.identity == after)
    #expect(try await Replica.identity(at: again.path) == after)
    await again.close()
  }

  @Test("opens what was sealed to the one before")
  func oldFiles() async throws {
    let early = try await file("early", by: 1)
    try await group[0].members.rotateIdentity()
    try await group[0].members.rotateIdentity()
    #expect(try await group[0].inspect(.file(early)).content?.signature == .verified)
    #expect(try await group[0].import(from: .file(early)).applied.transactions == 1)
    let later = try await file("later", by: 1)
    #expect(try await group[0].import(from: .file(later)).applied.transactions == 1)
  }

  @Test("leaves nothing to the old key: what it signed is refused once the new one is known")
  func oldSignature() async throws {
    let early = try await file("early", by: 0)
    try await group[0].members.rotateIdentity()
    _ = try await group[2].import(from: .file(early))
    _ = try await group[1].import(from: .file(file("late", by: 0)))
    let digest = try await group[1].maintenance.digest()
    let error = await error { try await group[1].import(from: .file(early)) }
    #expect(error?.code == .unknownSender && error?.message.contains("replaced") == true && error?.hint != nil)
    #expect(try await group[1].inspect(.file(early)).content?.signature == .replacedKey)
    #expect(await code { try await Replica.verify(.file(early), at: group[1].path) } == .unknownSender)
    #expect(try await group[1].maintenance.digest() == digest)
  }

  @Test("comes by relay, also when there were two in a row")
  func relayed() async throws {
    try await group[0].members.rotateIdentity()
    let last = try await group[0].members.rotateIdentity()
    _ = try await group[1].import(from: .file(file("one", by: 0)))
    _ = try await group[2].import(from: .file(file("two", by: 1)))
    #expect(try await known(0, by: 2) == last)
    let third = try await file("three", by: 2)
    #expect(try recipients(third, for: 2).contains(last.recipient.bytes))
    _ = try await group[2].import(from: .file(file("four", by: 0)))
  }

  @Test("may replace one that never reached the others, each time a file is exchanged")
  func again() async throws {
    for round in 1...3 {
      let next = try await group[0].members.rotateIdentity()
      try await group.settle()
      for index in 1..<3 { #expect(try await known(0, by: index) == next, "round \(round)") }
    }
    #expect(try await group.digests().count == 1)
  }

  /// A file of a member that states another history of replica 0.
  private func tell(_ history: IdentityHistory, by index: Int) async throws -> SyncSource {
    let keys = try Forgery.keys(of: group[index])
    let path = try await file(UUID().uuidString, by: index)
    let container = try Forgery.replaceHeader(
      of: Forgery.container(Forgery.bytes(path), keys.identity), signedBy: keys.identity
    ) { header in
      var roster = header.roster
      roster.histories = [history]
      return header.changing(roster: roster)
    }
    try Data(Forgery.seal(container, to: group.replicas.map(\.identity.recipient)))
      .write(to: URL(fileURLWithPath: path))
    return .file(path)
  }

  private func history(
    _ first: Identity, _ next: Identity, group: GroupID? = nil, change: (inout [UInt8]) -> Void = { _ in }
  ) throws -> IdentityHistory {
    var history = IdentityHistory(first.publicIdentity)
    try history.append(next, after: first, group: group ?? self.group[0].group, at: 5)
    var writer = ByteWriter()
    history.encode(to: &writer)
    var bytes = writer.bytes
    change(&bytes)
    var reader = ByteReader(bytes)
    return try IdentityHistory(reading: &reader)
  }

  @Test("is not believed when a signature is missing, it is of another group, or of somebody else's making")
  func forged() async throws {
    let present = try Forgery.keys(of: group[0]).identity
    let own = try Identity.generate(replica: present.replica)
    let thief = try Identity.generate(replica: present.replica)
    let other = GroupID(Identifier128(high: 1, low: 2))
    let forgeries = [
      try history(present, own) { $0[$0.count - 1] ^= 1 },
      try history(present, own) { $0[$0.count - 65] ^= 1 },
      try history(present, own) {
        $0.replaceSubrange($0.count - 128..<$0.count - 64, with: [UInt8](repeating: 0, count: 64))
      },
      try history(present, own) {
        $0.replaceSubrange($0.count - 64..<$0.count, with: $0[$0.count - 128..<$0.count - 64])
      },
      try history(present, own, group: other),
      try history(thief, own),
    ]
    for (number, forgery) in forgeries.enumerated() {
      _ = try await group[2].import(from: tell(forgery, by: 1))
      #expect(try await known(0, by: 2) == present.publicIdentity, "forgery \(number)")
    }
    _ = try await group[2].import(from: tell(try history(present, own), by: 1))
    #expect(try await known(0, by: 2) == own.publicIdentity)
  }

  @Test("is not undone by an earlier one that comes again, nor by a return to an earlier key")
  func replayed() async throws {
    let first = try Forgery.keys(of: group[0]).identity
    try await group[0].members.rotateIdentity()
    let second = try Forgery.keys(of: group[0])
    let early = try await file("early", by: 0)
    let last = try await group[0].members.rotateIdentity()
    try await group.settle()
    let roster = try second.roster
    _ = try await group[2].import(from: tell(try #require(roster.histories.first), by: 1))
    #expect(try await known(0, by: 2) == last)
    #expect(await code { try await group[2].import(from: .file(early)) } == .unknownSender)
    var circle = try #require(roster.histories.first)
    let error = await error { try circle.append(first, after: second.identity, group: group[0].group, at: 9) }
    #expect(error?.code == .invalidArgument && circle == roster.histories.first)
  }

  @Test("the first of two successors of one key stays, and files of the other are refused")
  func competing() async throws {
    let stolen = try Forgery.keys(of: group[0]).identity
    let thief = try Identity.generate(replica: stolen.replica)
    let genuine = try await group[0].members.rotateIdentity()
    _ = try await group[1].import(from: .file(file("genuine", by: 0)))
    _ = try await group[1].import(from: tell(try history(stolen, thief), by: 2))
    #expect(try await known(0, by: 1) == genuine)
  }

  @Test("of a post-quantum group is post-quantum, and a classical one cannot follow")
  func postQuantum() async throws {
    let group = try await TestGroup(2, postQuantum: true)
    let present = try Forgery.keys(of: group[0]).identity
    let weak = try Identity.generate(replica: present.replica)
    var history = IdentityHistory(present.publicIdentity)
    let error = await error { try history.append(weak, after: present, group: group[0].group, at: 1) }
    #expect(error?.code == .invalidArgument && history.successors.isEmpty)
    #expect(try await group[0].members.rotateIdentity().isPostQuantum)
    try await group[0].write { try $0.insert(Note(title: "x")) }
    try await group.settle()
    #expect(try await group.digests().count == 1)
    let path = group.folder.file("last")
    _ = try await group[1].export(to: .file(path))
    let envelope = try AgeEnvelope(MemorySource(Forgery.bytes(path)))
    #expect(Set(envelope.stanzaTypes) == ["mlkem768x25519"])
  }

  @Test("can follow 32 times, and after that the group still works")
  func limit() async throws {
    for _ in 0..<32 { try await group[0].members.rotateIdentity() }
    let last = group[0].identity
    let error = await error { try await group[0].members.rotateIdentity() }
    #expect(error?.code == .limitExceeded && error?.hint != nil)
    #expect(group[0].identity == last)
    try await group.settle()
    #expect(try await known(0, by: 2) == last)
  }

  @Test("stays with its old keys when the master key is replaced, too")
  func masterKey() async throws {
    let early = try await file("early", by: 1)
    let next = try await group[0].members.rotateIdentity()
    try await ReplicaKeyring(at: group[0].path).rotateMasterKey()
    #expect(try await group[0].import(from: .file(early)).applied.transactions == 1)
    #expect(try Forgery.keys(of: group[0]).identity.publicIdentity == next)
  }

  @Test("killed at any time is the old one or the new one, and the others accept it")
  func killed() async throws {
    let path = group[0].path
    await group[0].close()
    var random = SeededGenerator(seed: 11)
    var most = 0
    for round in 1...8 {
      let steps = Int.random(in: 0...2, using: &random)
      most = max(
        most,
        try await KillSubject.kill(
          ["rotate-identity", path], after: steps, andMicroseconds: UInt32.random(in: 0...20_000, using: &random)))
      let contents = try Keyring.open(
        at: KeyringLocation(keyring: "\(path)/keyring", machineKey: "\(path)/machine.key"))
      let histories = try contents.roster.histories
      let former = try contents.formerIdentities.map(\.publicIdentity)
      let all = histories.first?.all ?? [contents.identity.publicIdentity]
      #expect(histories.allSatisfy { $0.isSound(in: group[0].group) })
      #expect(all == former.reversed() + [contents.identity.publicIdentity], "round \(round)")
    }
    #expect(most > 0)
    let again = try await TestGroup.open(path)
    let file = group.folder.file("after")
    _ = try await again.export(to: .file(file))
    _ = try await group[1].import(from: .file(file))
    #expect(try await group[1].members.list().contains { $0.identity == again.identity })
    await again.close()
  }
}
