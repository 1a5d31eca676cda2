import Foundation
import GodwitBase
import GodwitCore
import Testing

@testable import Godwit
@testable import GodwitEngine
@testable import GodwitCrypto
@testable import GodwitKeys
@testable import GodwitSyncFile

/// 0 has written, and 1 and 2 hold it. 1 has said so to 0; what 2 holds 0 can know by 1 alone.
@Suite("Acknowledgements that others pass on")
struct PassedOnAcknowledgementTests {
  private let group: TestGroup
  private let third: Identity

  init() async throws {
    group = try await TestGroup(3)
    try await group.settle()
    try await group[0].write { try $0.insert(Note()) }
    for receiver in 1...2 { try await group.send(from: 0, to: receiver) }
    third = try Forgery.keys(of: group[2]).identity
  }

  /// A file of 1's for 0 that passes this on as 2's.
  private func pass(
    inventing member: MemberRecord? = nil,
    _ change: (SyncFileHeader, SignedAcknowledgement) throws -> SignedAcknowledgement?
  ) async throws {
    try await passAll(inventing: member) { [try change($0, $1)].compactMap { $0 } }
  }

  private func passAll(_ change: (SignedAcknowledgement) throws -> [SignedAcknowledgement]) async throws {
    try await passAll { try change($1) }
  }

  private func passAll(
    inventing member: MemberRecord? = nil,
    _ change: (SyncFileHeader, SignedAcknowledgement) throws -> [SignedAcknowledgement]
  ) async throws {
    let genuine = group.folder.file("genuine")
    _ = try await group[2].export(to: .file(genuine))
    let keys = try Forgery.keys(of: group[1])
    let acknowledgement = try Forgery.header(Forgery.container(Forgery.bytes(genuine), keys.identity)).header
      .acknowledgements
      .first { $0.subject == third.replica }
    let path = group.folder.file("passed-on")
    _ = try await group[1].export(to: .file(path))
    let container = try Forgery.replaceHeader(
      of: Forgery.container(Forgery.bytes(path), keys.identity), signedBy: keys.identity
    ) { header in
      let others = header.acknowledgements.filter { $0.subject != third.replica }
      var roster = header.roster
      roster.members = (roster.members + [member].compactMap { $0 }).sorted { $0.subject < $1.subject }
      return header.changing(roster: roster, acknowledgements: others + (try change(header, #require(acknowledgement))))
    }
    try Data(Forgery.seal(container, to: group.replicas.map(\.identity.recipient))).write(
      to: URL(fileURLWithPath: path))
    _ = try await group[0].import(from: .file(path))
    try await group[0].maintenance.compact()
  }

  /// The acknowledgement with other content, signed by whom it pleases.
  private func reissued(
    _ acknowledgement: SignedAcknowledgement, by identity: Identity? = nil, group: GroupID? = nil,
    at milliseconds: Int64? = nil,
    vector: VersionVector? = nil, chains: ContentHash? = nil
  ) throws -> SignedAcknowledgement {
    func content(_ group: GroupID, _ signature: [UInt8]) -> SignedAcknowledgement {
      SignedAcknowledgement(
        group: group, origin: acknowledgement.origin, createdAt: milliseconds ?? acknowledgement.createdAt,
        vector: vector ?? acknowledgement.vector, chains: chains ?? acknowledgement.chains, members: [:], ended: [],
        signature: signature)
    }
    let signature = try (identity ?? third).sign(content(group ?? acknowledgement.group, []).signedBytes)
    return content(acknowledgement.group, signature)
  }

  private var kept: Int { get async throws { try await group[0].history.log().count } }

  @Test("count like those that come straight")
  func counts() async throws {
    try await pass { _, acknowledgement in acknowledgement }
    #expect(try await kept == 0)
  }

  @Test("do not count when none is passed on, or its signature is another's, broken, or over something else")
  func forged() async throws {
    let own = try Forgery.keys(of: group[1]).identity
    let empty = try Identity.generate(replica: third.replica)
    let forgeries: [(String, (SyncFileHeader, SignedAcknowledgement) throws -> SignedAcknowledgement?)] = [
      ("none", { _, _ in nil }),
      ("by the sender", { try self.reissued($1, by: own) }),
      ("by a stranger", { try self.reissued($1, by: empty) }),
      ("of another group", { try self.reissued($1, group: GroupID(Identifier128(high: 4, low: 4))) }),
      ("at another time", { try self.reissued($1).changing(createdAt: $1.createdAt + 1) }),
      (
        "broken",
        { _, acknowledgement in acknowledgement.changing(signature: Forgery.flip(acknowledgement.signature, fromEnd: 1))
        }
      ),
      (
        "before all had come",
        { try self.reissued($1, vector: VersionVector(), chains: .zero).changing(vector: $1.vector) }
      ),
      ("at the end of time", { try self.reissued($1, at: 1 << 62) }),
    ]
    for (name, forgery) in forgeries {
      try await pass(forgery)
      #expect(try await kept == 1, "\(name)")
    }
    try await pass { _, acknowledgement in acknowledgement }
    #expect(try await kept == 0)
  }

  @Test("do not count when they are of another history under the same numbers")
  func otherHistory() async throws {
    try await pass { _, acknowledgement in
      try reissued(
        acknowledgement, at: acknowledgement.createdAt + 1, chains: [7].withUnsafeBytes { ContentHash(of: $0) })
    }
    #expect(try await kept == 1)
  }

  @Test("wait until all that they name is held")
  func ahead() async throws {
    try await pass { _, acknowledgement in
      var vector = acknowledgement.vector
      vector[acknowledgement.origin] = vector[acknowledgement.origin].next
      return try reissued(acknowledgement, at: acknowledgement.createdAt + 1, vector: vector)
    }
    #expect(try await kept == 1)
    group.clock.advance(10)
    try await pass { _, acknowledgement in acknowledgement }
    #expect(try await kept == 0)
  }

  @Test("of removed members do not count, and those that were kept go")
  func removed() async throws {
    #expect(try await makers().contains(third.replica))
    try await group[0].members.remove("replica-2")
    try await pass { _, acknowledgement in try reissued(acknowledgement, at: acknowledgement.createdAt + 5) }
    let left = try await makers()
    #expect(!left.contains(third.replica) && !left.isEmpty)
  }

  private func count(of replica: Replica) async throws -> Int {
    try await replica.withWriter { try SignedAcknowledgements(connection: $0.connection).all().count }
  }

  private func makers() async throws -> [ReplicaID] {
    try await group[0].withWriter { try SignedAcknowledgements(connection: $0.connection).all().map(\.subject) }
  }

  @Test("do not count, and are not kept, when they name members whom nobody vouches for")
  func unknownMember() async throws {
    let stranger = try Identity.generate(replica: ReplicaID(Identifier128(high: 5, low: 5)))
    let invented = try MemberRecord.issue(
      group: group[0].group, identity: stranger.publicIdentity, name: "new", status: .active, at: 1, by: stranger)
    let before = try await count(of: group[0])
    try await pass(inventing: invented) { _, acknowledgement in
      try SignedAcknowledgement.issue(
        group: acknowledgement.group, incarnation: acknowledgement.origin.incarnation,
        at: acknowledgement.createdAt + 5,
        vector: acknowledgement.vector, chains: acknowledgement.chains, members: [stranger.replica: .active], ended: [],
        by: third)
    }
    #expect(try await kept == 1)
    let stored = try await group[0].withWriter { try SignedAcknowledgements(connection: $0.connection).all() }
    #expect(stored.count == before && stored.allSatisfy { $0.members[stranger.replica] == nil })
    try await pass { _, acknowledgement in acknowledgement }
    #expect(try await kept == 0)
  }

  /// A file of 1's for 0 with another header.
  private func claim(_ change: (SyncFileHeader) throws -> SyncFileHeader) async throws -> SyncSource {
    let keys = try Forgery.keys(of: group[1])
    let path = group.folder.file(UUID().uuidString)
    _ = try await group[1].export(to: .file(path))
    let container = try Forgery.replaceHeader(
      of: Forgery.container(Forgery.bytes(path), keys.identity), signedBy: keys.identity, change)
    try Data(Forgery.seal(container, to: group.replicas.map(\.identity.recipient))).write(
      to: URL(fileURLWithPath: path))
    return .file(path)
  }

  @Test(
    "a file made at the end of time, or before all, is taken in, and history is forgotten as ever",
    arguments: [
      Int64.max, 1 << 62, Int64.min,
    ])
  func endOfTime(createdAt: Int64) async throws {
    let file = try await claim { $0.changing(acknowledgements: [], createdAt: createdAt) }
    _ = try await group[0].import(from: file)
    try await group[0].maintenance.compact()
    _ = try await group[0].import(from: file)
    #expect(try await group[0].maintenance.verify().problems == [])
  }

  @Test(
    "one who says before all time that it holds more keeps nobody from syncing", arguments: [Int64.min, Int64.min + 1])
  func lackedBeforeTime(createdAt: Int64) async throws {
    let file = try await claim { header in
      let next = Origin(replica: header.sender, incarnation: header.incarnation &+ 1)
      var vector = header.vector
      vector[next] = SequenceNumber(rawValue: 1)
      return header.changing(
        acknowledgements: [], createdAt: createdAt, ended: [header.origin: header.vector[header.origin]],
        vector: vector, chains: header.chains.merging([next: SyncFileHeader.Chain(.zero)]) { $1 },
        incarnation: next.incarnation)
    }
    _ = try await group[0].import(from: file)
    let remote = group.folder.file("remote")
    try FileManager.default.createDirectory(atPath: remote, withIntermediateDirectories: true)
    try await group[0].remotes.add("stick", at: remote)
    let report = try #require(try await group[0].sync().remotes.first)
    #expect(report.error == nil && report.findings == [.withheld], "\(report)")
  }

  private func said() async throws -> [Origin] {
    let all = try await group[0].withWriter { try Acknowledgements($0.connection).records.keys }
    return all.filter { $0.replica == group[1].identity.replica }
  }

  @Test("what a member says of itself is kept of no more incarnations than it has, and of those that write on first")
  func floodOfOwn() async throws {
    let numbers = UInt32(1)...80
    for number in numbers {
      _ = try await group[0].import(from: claim { $0.changing(acknowledgements: [], incarnation: number) })
    }
    #expect(try await (64...66).contains(said().count))
    let ended = Dictionary(
      uniqueKeysWithValues: numbers.map {
        (Origin(replica: group[1].identity.replica, incarnation: $0), SequenceNumber.none)
      })
    _ = try await group[0].import(from: claim { $0.changing(acknowledgements: [], ended: ended, incarnation: 200) })
    #expect(try await said().contains { $0.incarnation == 200 })
    #expect(try await said().count < 5)
  }

  @Test("an end beyond all numbers is refused, and those of nobody's incarnations mean nothing")
  func ends() async throws {
    let nobody = Origin(replica: ReplicaID(Identifier128(high: 8, low: 8)), incarnation: 1)
    for end in [UInt64.max, 1 << 63, SequenceNumber.limit.rawValue] {
      let file = try await claim { $0.changing(ended: [nobody: SequenceNumber(rawValue: end)]) }
      #expect(await code { try await group[0].import(from: file) } == .corruptFile)
    }
    _ = try await group[0].import(from: claim { $0.changing(ended: [nobody: SequenceNumber(rawValue: 5)]) })
    #expect(try await group[0].members.incarnations().allSatisfy { $0.replica != nobody.replica })
    let origins = try await group[0].withWriter { $0.log.origins.all }
    #expect(!origins.contains(nobody))
  }

  @Test("of no more incarnations are kept than a member has")
  func flood() async throws {
    try await passAll { acknowledgement in
      try (1...200).map { number in
        try SignedAcknowledgement.issue(
          group: acknowledgement.group, incarnation: UInt32(number), at: acknowledgement.createdAt,
          vector: acknowledgement.vector,
          chains: .zero, members: [:], ended: [], by: third)
      }
    }
    #expect(try await count(of: group[0]) < 70)
  }

  @Test("of incarnations that have ended are not kept, and leave room for those that live")
  func ended() async throws {
    var copies: [SignedAcknowledgement] = []
    try await passAll { acknowledgement in
      copies = try (1...63).map { number in
        try SignedAcknowledgement.issue(
          group: acknowledgement.group, incarnation: UInt32(number), at: acknowledgement.createdAt,
          vector: acknowledgement.vector,
          chains: .zero, members: [:], ended: [], by: third)
      }
      return copies
    }
    func kept() async throws -> Set<Origin> {
      let all = try await group[0].withWriter { try SignedAcknowledgements(connection: $0.connection).all() }
      return Set(all.map(\.origin)).intersection(copies.map(\.origin))
    }
    #expect(try await kept().count == 63)
    let ends = Dictionary(uniqueKeysWithValues: copies.dropLast().map { ($0.origin, SequenceNumber.none) })
    _ = try await group[0].import(from: claim { $0.changing(acknowledgements: copies, ended: ends) })
    #expect(try await kept() == Set(copies.suffix(1).map(\.origin)))
    #expect(try await group[0].maintenance.verify().problems == [])
  }

  @Test("of an earlier time take nothing back that a rolled back machine has said since")
  func rolledBack() async throws {
    var early: SignedAcknowledgement?
    try await pass { _, acknowledgement in
      early = acknowledgement
      return try reissued(
        acknowledgement, at: acknowledgement.createdAt + 5, vector: VersionVector(),
        chains: [].withUnsafeBytes { ContentHash(of: $0) })
    }
    #expect(try await kept == 1)
    let before = try #require(early)
    for _ in 0..<2 { try await pass { _, _ in before } }
    #expect(try await kept == 1)
  }

  @Test("are later each time, also after the clock was set back and the replica was opened anew")
  func clockSetBack() async throws {
    func saidAt() async throws -> Int64 {
      let path = group.folder.file(UUID().uuidString)
      _ = try await group[2].export(to: .file(path))
      let container = try Forgery.container(Forgery.bytes(path), third)
      return try #require(try Forgery.header(container).header.acknowledgements.first { $0.subject == third.replica })
        .createdAt
    }
    group.clock.advance(1_000_000)
    let first = try await saidAt()
    group.clock.advance(-900_000)
    let second = try await saidAt()
    let last = try await saidAt()
    #expect(first >= 1_700_001_000_000 && first < second && second < last)
  }
}

extension SignedAcknowledgement {
  /// The same signature over something else.
  fileprivate func changing(
    createdAt: Int64? = nil, vector: VersionVector? = nil, signature: [UInt8]? = nil
  ) -> SignedAcknowledgement {
    SignedAcknowledgement(
      group: group, origin: origin, createdAt: createdAt ?? self.createdAt, vector: vector ?? self.vector,
      chains: chains,
      members: members, ended: ended, signature: signature ?? self.signature)
  }
}

extension SignedAcknowledgements {
  /// All of them, rising.
  fileprivate func all() throws -> [SignedAcknowledgement] { try origins().compactMap(latest) }
}
