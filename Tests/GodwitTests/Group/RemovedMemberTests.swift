import Foundation
import GodwitBase
import GodwitCore
import GodwitFiles
import Testing

@testable import Godwit
@testable import GodwitEngine
@testable import GodwitCrypto
@testable import GodwitKeys
@testable import GodwitSyncFile

@Suite("A removed member")
struct RemovedMemberTests {
  private let group: TestGroup

  init() async throws {
    group = try await TestGroup(3)
    try await group.introduce()
  }

  /// Writes a row on a replica and exports all it holds.
  private func file(_ title: String, by index: Int) async throws -> SyncSource {
    let file = group.folder.file(title)
    try await group[index].write { try $0.insert(Note(title: title)) }
    _ = try await group[index].export(to: .file(file), includesAll: true)
    return .file(file)
  }

  private func titles(_ index: Int) async throws -> Set<String> {
    Set(try await group[index].fetch(Note.all).map(\.title))
  }

  /// Whom a file that a replica exports now is sealed to.
  private func recipients(by index: Int) async throws -> Set<ReplicaID> {
    let path = group.folder.file(UUID().uuidString)
    _ = try await group[index].export(to: .file(path))
    let content = try #require(try await group[index].inspect(.file(path)).content)
    return Set(content.recipients.compactMap(\.replica))
  }

  @Test("is refused by who knows of its removal, whatever it sends")
  func refused() async throws {
    _ = try await group[0].import(from: file("before", by: 1))
    let digest = try await group[0].maintenance.digest()
    try await group[0].members.remove("replica-1")
    for title in ["one", "two"] {
      let source = try await file(title, by: 1)
      let error = await error { try await group[0].import(from: source) }
      #expect(error?.code == .unknownSender)
      #expect(error?.message.contains("replica-1") == true && error?.hint?.contains("member add") == true)
    }
    #expect(try await group[0].maintenance.digest() == digest)
    #expect(try await titles(0) == ["before"])
  }

  @Test("is refused by an import that had opened its file before the removal, and has its turn after it")
  func removedMeanwhile() async throws {
    guard case .file(let path) = try await file("late", by: 1) else { return }
    let (receiver, keys) = (group[0], try Forgery.keys(of: group[0]))
    let members = TrustedMembers(group: receiver.group, location: receiver.folder.keys)
    let importing = {
      try await receiver.withWriter { writer in
        let file = try SyncFileReader(FileDescriptor.openForReading(path), identities: try keys.ageIdentities) {
          header in
          try members.load().sender(header.sender).history
        }
        // As another process does that holds the keyring and not this writer.
        try members.remove(header: file.header, by: keys.identity)
        return try Importer.run(file, from: members, on: writer, progress: nil)
      }
    }
    #expect(await code { _ = try await importing() } == .unknownSender)
    #expect(try await titles(0) == [])
  }

  @Test("is known as removed by who learns of it from a third, and refused there from then on")
  func relayed() async throws {
    _ = try await group[1].import(from: file("early", by: 2))
    try await group[0].members.remove("replica-2")
    #expect(try await recipients(by: 1).contains(group[2].identity.replica))
    _ = try await group[1].import(from: file("news", by: 0))
    let third = try await file("late", by: 2)
    #expect(await code { try await group[1].import(from: third) } == .unknownSender)
    #expect(try await titles(1) == ["early", "news"])
    for index in 0..<2 {
      #expect(try await recipients(by: index) == [group[0].identity.replica, group[1].identity.replica])
    }
    #expect(await code { try await group[1].export(to: .file("x"), for: "replica-2") } == .invalidArgument)
  }

  @Test("leaves nothing waiting where its own file, refused for it, shows its removal")
  func waitingGoes() async throws {
    let late = try await file("late", by: 2)
    _ = try await group[1].import(from: late)
    try await group[1].withWriter { writer in
      let origin = Origin(replica: self.group[2].identity.replica, incarnation: 1)
      let record = TransactionRecord(
        dot: Dot(origin, SequenceNumber(rawValue: 9)), hlc: HLC(rawValue: 1), schemaVersion: 0, context: nil,
        changes: [])
      _ = try writer.inTransaction {
        try StagedTransactions(connection: writer.connection).add(
          StagedTransaction(record: record, context: VersionVector(), chain: .zero))
      }
    }
    #expect(try await group[1].status().staged == 1)
    try await group[0].members.remove("replica-2")
    // It learns of its removal, and shows it with every file.
    let keys = try Forgery.keys(of: group[0])
    try Keyring.update(at: group[2].folder.keys) { $0.setRoster(try keys.roster) }
    let refused = try await file("after", by: 2)
    #expect(await code { try await group[1].import(from: refused) } == .unknownSender)
    #expect(try await group[1].status().staged == 0)
  }

  /// Makes replica 1 a member again.
  private func readmit() async throws {
    group.clock.advance(1_000)
    try await group[0].members.invite(
      group[1].identity, name: "replica-1", verification: .trustOnFirstUse, to: .file(group.folder.file("again")))
  }

  @Test("that is a member again is not believed by a file from before that")
  func fileFromBefore() async throws {
    let early = try await file("early", by: 1)
    try await group[0].members.remove("replica-1")
    try await readmit()
    for source in [early, try await file("unaware", by: 1)] {
      let report = try await group[0].import(from: source)
      #expect(report.applied.transactions == 0 && report.attention.leftOut.map(\.reason) == [.fenced])
    }
    #expect(try await titles(0) == [])
  }

  @Test("that is a member again, and has changes, continues by rejoining alone")
  func rejoins() async throws {
    _ = try await file("mine", by: 1)
    try await group[0].members.remove("replica-1")
    try await readmit()
    let (plain, state) = (group.folder.file("plain"), group.folder.file("state"))
    _ = try await group[0].export(to: .file(plain), for: "replica-1")
    _ = try await group[0].exportState(to: .file(state), for: "replica-1")
    for file in [plain, state] {
      let failure = await error { try await group[1].import(from: .file(file)) }
      #expect(failure?.code == .fenced && failure?.hint?.contains("--rejoin") == true)
    }
    #expect(await code { try await group[1].rejoin(from: .file(plain)) } == .fenced)
    _ = try await group[1].rejoin(from: .file(state))
    _ = try await group[0].import(from: file("again", by: 1))
    #expect(try await titles(0) == ["mine", "again"])
    // Once is enough.
    try await group.send(from: 0, to: 1)
    #expect(try await group[0].maintenance.digest() == group[1].maintenance.digest())
  }

  @Test("keeps what others took in before they knew of the removal, and that reaches who knew of it first")
  func stays() async throws {
    try await group[0].members.remove("replica-2")
    // Replica 1 does not know of it yet.
    _ = try await group[1].import(from: file("unheard", by: 2))
    let direct = try await file("again", by: 2)
    #expect(await code { try await group[0].import(from: direct) } == .unknownSender)
    #expect(try await titles(0) == [])
    _ = try await group[0].import(from: file("relay", by: 1))
    #expect(try await titles(0) == ["unheard", "relay"])
    _ = try await group[1].import(from: file("answer", by: 0))
    #expect(await code { try await group[1].import(from: direct) } == .unknownSender)
    #expect(try await group[0].maintenance.digest() == group[1].maintenance.digest())
    // It continues to write, and gets nothing.
    for title in ["x", "y"] { _ = try await file(title, by: 2) }
    let path = group.folder.file("not for it")
    _ = try await group[1].export(to: .file(path), includesAll: true)
    #expect(await code { try await group[2].import(from: .file(path)) } == .notARecipient)
  }

  @Test("is refused the same in whichever order the files come")
  func orders() async throws {
    let early = try await file("early", by: 2)
    try await group[0].members.remove("replica-2")
    let removal = try await file("removal", by: 0)
    _ = try await group[1].import(from: removal)
    // Made before the removal, but it comes after it.
    #expect(await code { try await group[1].import(from: early) } == .unknownSender)
    #expect(try await titles(1) == ["removal"])
  }

  @Test("stays removed when the remover's clock is far behind")
  func slowClock() async throws {
    group.clock.advance(-1_000_000_000)
    try await group[0].members.remove("replica-2")
    try await group.send(from: 0, to: 1)
    #expect(try await recipients(by: 1) == [group[0].identity.replica, group[1].identity.replica])
    let again = group.folder.file("again")
    try await group[1].members.invite(
      group[2].identity, name: "replica-2", verification: .trustOnFirstUse, to: .file(again))
    try await group.send(from: 1, to: 0)
    #expect(try await recipients(by: 0).count == 3)
  }

  /// Replica 0 removes 2, of which 1 does not know; 2 lets a puppet in, which writes a file.
  private func puppetFile() async throws -> (identity: PublicIdentity, file: SyncSource) {
    let path = group.folder.file("puppet")
    let identity = try await Replica.identity(at: path)
    try await group[0].members.remove("replica-2")
    // It does not know, and its clock is behind.
    group.clock.advance(-1_000_000)
    try await group[2].members.invite(
      identity, name: "puppet", verification: .trustOnFirstUse, to: .file(group.folder.file("invitation")))
    await (try Replica.join(at: path, invitation: .file(group.folder.file("invitation")), inviter: .trustOnFirstUse))
      .close()
    let puppet = try await TestGroup.open(path)
    try await puppet.write { try $0.insert(Note(title: "forged")) }
    _ = try await puppet.export(to: .file(group.folder.file("forged")))
    await puppet.close()
    return (identity, .file(group.folder.file("forged")))
  }

  @Test("lets nobody in by what it dates back, also through who does not know of the removal")
  func puppet() async throws {
    let (identity, forged) = try await puppetFile()
    let error = await error { try await group[0].import(from: forged) }
    #expect(error?.code == .unknownSender && error?.hint != nil)
    // Who does not know of the removal believes it, and hands on what it wrote, but not that it is a member.
    _ = try await group[1].import(from: forged)
    #expect(try await group[1].members.list().contains { $0.identity == identity && $0.isActive })
    let brought = try await group.send(from: 1, to: 0)
    #expect(
      brought.applied.members.map(\.replica) == [identity.replica] && brought.applied.members.map(\.kind) == [.lapsed])
    #expect(try await titles(0) == ["forged"])
    let heard = try await group.send(from: 0, to: 1)
    #expect(Set(heard.applied.members.map { "\($0.kind) \($0.name)" }) == ["removed replica-2", "lapsed puppet"])
    #expect(heard.applied.members.allSatisfy { $0.issuer == group[0].identity.replica })
    for index in 0..<2 {
      #expect(try await group[index].members.list().contains { $0.identity == identity && !$0.isActive })
      #expect(try await !recipients(by: index).contains(identity.replica))
      #expect(await code { try await group[index].import(from: forged) } == .unknownSender)
    }
    // An active member may let it in again.
    try await group[1].members.invite(
      identity, name: "puppet", verification: .trustOnFirstUse, to: .file(group.folder.file("again")))
    try await group.send(from: 1, to: 0)
    #expect(try await recipients(by: 0).contains(identity.replica))
  }

  @Test("states nothing more itself")
  func silenced() async throws {
    _ = try await file("before", by: 0)
    try await group[1].members.remove("replica-2")
    try await group.send(from: 1, to: 0)
    // A file for it from who does not know, which brings it the removal all the same.
    let keys = try Forgery.keys(of: group[0])
    let told = try Forgery.seal(
      Forgery.replaceHeader(
        of: Forgery.container(Forgery.bytes(group.folder.file("before")), keys.identity), signedBy: keys.identity
      ) { $0.changing(roster: try keys.roster) },
      to: group.replicas.map(\.identity.recipient))
    try Data(told).write(to: URL(fileURLWithPath: group.folder.file("told")))
    let report = try await group[2].import(from: .file(group.folder.file("told")))
    let gone = report.applied.members.filter { $0.replica == group[2].identity.replica }
    #expect(gone.map(\.kind) == [.removed] && gone.map(\.issuer) == [group[1].identity.replica])
    for attempt in [
      { try await group[2].members.remove("replica-0") },
      { try await group[2].members.rename("replica-0", to: "x") },
      { _ = try await group[2].members.rotateIdentity() },
    ] as [() async throws -> Void] {
      #expect(await code(attempt) == .invalidArgument)
    }
  }

  @Test("and its remover, removed by it at the same time, are both out where both removals are known")
  func both() async throws {
    let group = try await TestGroup(4)
    try await group.introduce()
    try await group[0].members.remove("replica-1")
    try await group[1].members.remove("replica-0")
    try await group.send(from: 0, to: 2)
    try await group.send(from: 1, to: 3)
    try await group.send(from: 2, to: 3)
    try await group.send(from: 3, to: 2)
    for index in 2..<4 {
      let active = try await group[index].members.list().filter(\.isActive).map(\.identity.replica)
      #expect(Set(active) == [group[2].identity.replica, group[3].identity.replica])
    }
  }

  @Test("and its remover, who know of both removals, show them by files that are refused, and are let in again")
  func shown() async throws {
    try await group[1].members.remove("replica-2")
    try await group[2].members.remove("replica-1")
    let records = try [1, 2].map { try Keyring.open(at: group[$0].folder.keys).roster }
    for (index, other) in zip([1, 2], records.reversed()) {
      try Keyring.update(at: group[index].folder.keys) { contents in
        var roster = Roster(group: group[index].group, trusted: try contents.roster)
        roster.merge(other, isVouchedFor: true)
        contents.setRoster(roster.records)
      }
    }
    func isActive(_ index: Int) async throws -> Bool {
      try await group[0].members.member(named: "replica-\(index)").isActive
    }
    for index in 1...2 {
      let source = try await file("by \(index)", by: index)
      #expect(await code { try await group[0].plan(importing: source) } == .unknownSender)
      #expect(try await isActive(index))
      #expect(await code { try await group[0].import(from: source) } == .unknownSender)
      #expect(try await !isActive(index))
    }
    for index in 1...2 {
      let (invitation, state) = (group.folder.file("invitation"), group.folder.file("state"))
      try await group[0].members.invite(
        group[index].identity, name: "replica-\(index)", verification: .trustOnFirstUse, to: .file(invitation))
      _ = try await group[0].exportState(to: .file(state))
      _ = try await group[index].rejoin(from: .file(state))
      _ = try await group[0].import(from: file("again by \(index)", by: index))
    }
    #expect(try await titles(0).isSuperset(of: ["by 1", "by 2", "again by 1", "again by 2"]))
  }
}

extension TrustedMembers {
  fileprivate func remove(header: SyncFileHeader, by issuer: Identity) throws {
    try Keyring.update(at: location) { contents in
      var roster = Roster(group: group, trusted: try contents.roster)
      let member = try roster.sender(header.sender)
      let record = try MemberRecord.issue(
        group: group, identity: member.identity, name: member.name, status: .removed,
        at: member.record.issuedAtMilliseconds + 1, by: issuer, ground: roster.ground(of: issuer.replica))
      roster.merge(RosterRecords(members: [record]))
      contents.setRoster(roster.records)
    }
  }
}
