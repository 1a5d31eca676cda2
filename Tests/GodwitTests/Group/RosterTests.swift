import Godwit
import GodwitBase
import Testing

@testable import Godwit
@testable import GodwitEngine
@testable import GodwitCrypto
@testable import GodwitKeys
@testable import GodwitSyncFile

extension Roster {
  fileprivate mutating func expect(_ records: RosterRecords, isVouchedFor: Bool = false, isNew: Bool = true) {
    let wasNew = merge(records, isVouchedFor: isVouchedFor)
    #expect(wasNew == isNew)
  }
}

@Suite("A roster")
struct RosterTests {
  private let scene: RosterScene
  private var members: [Identity] { scene.identities }

  init() throws { scene = try RosterScene(4) }

  @Test("introduces a member by what a file has room for, its own former keys first")
  func introduction() throws {
    let scene = try RosterScene(2, .hybrid)
    var roster = scene.roster()
    var (issuer, ground) = (scene.identities[1], scene.additions[1])
    var own = issuer.replica
    for number in 0..<7 {
      let replica = ReplicaID(Identifier128(high: 2, low: UInt64(number)))
      let first = try Identity.generate(replica: replica, kind: .hybrid)
      var history = IdentityHistory(first.publicIdentity)
      var present = first
      for step in 1...IdentityHistory.successorCountMax {
        let next = try Identity.generate(replica: replica, kind: .hybrid)
        try history.append(next, after: present, group: scene.group, at: Int64(step))
        present = next
      }
      let record = try scene.record(
        first.publicIdentity, at: Int64(1_000 + number), by: issuer, ground: ground)
      roster.merge(RosterRecords(members: [record], histories: [history]), isVouchedFor: true)
      (issuer, ground, own) = (present, record, replica)
    }
    let introduction = roster.introduction(of: own)
    #expect(introduction.members.count == 8)
    #expect(introduction.histories.contains { $0.replica == own } && introduction.histories.count < 7)
    #expect(SyncFilePreamble.hasRoom(for: introduction))
  }

  @Test("does not believe what is signed with a key that was replaced, until somebody vouches for it")
  func replacedKey() throws {
    var history = IdentityHistory(members[1].publicIdentity)
    try history.append(Identity.generate(replica: members[1].replica), after: members[1], group: scene.group, at: 10)
    let added = RosterRecords(
      members: [try scene.record(RosterScene.identity(9).publicIdentity, at: 5, by: members[1])])
    var roster = scene.roster()
    roster.expect(RosterRecords(histories: [history]))
    roster.expect(added, isNew: false)
    roster.expect(added, isVouchedFor: true)
  }

  @Test("weighs a file's records against what was known before it, in whatever order they stand", arguments: 1...40)
  func anyOrder(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let strangers = try (5..<9).map { try RosterScene.identity($0) }
    let everybody = members + strangers
    var records = try everybody.dropFirst().map { subject in
      let issuer = everybody.filter { $0.replica != subject.replica }.randomElement(using: &random) ?? members[0]
      return try scene.record(
        subject.publicIdentity, Bool.random(using: &random) ? .active : .removed,
        at: .random(in: 0...3, using: &random), by: issuer)
    }
    var names = try everybody.map { try scene.name($0, "n", at: 2, by: everybody.randomElement(using: &random) ?? $0) }
    var known = scene.roster()
    known.merge(RosterRecords(members: [try scene.record(members[3].publicIdentity, .removed, at: 2, by: members[0])]))
    for isVouchedFor in [false, true] {
      var rosters: [RosterRecords] = []
      for _ in 0..<6 {
        records.shuffle(using: &random)
        names.shuffle(using: &random)
        var roster = known
        roster.merge(RosterRecords(members: records, names: names), isVouchedFor: isVouchedFor)
        rosters.append(roster.records)
      }
      #expect(rosters.allSatisfy { $0 == rosters[0] })
    }
  }

  @Test("of two identities under one replica ID keeps the one that came first, also against a removal of the other")
  func firstIdentityStays() throws {
    let both = try [5, 6].map { try scene.record(RosterScene.identity(9).publicIdentity, at: $0, by: members[1]) }
    for (first, second) in [(both[0], both[1]), (both[1], both[0])] {
      var roster = scene.roster()
      roster.expect(RosterRecords(members: [first]))
      roster.expect(RosterRecords(members: [second]), isVouchedFor: true, isNew: false)
      let removal = try scene.record(second.identity, .removed, at: 100, by: members[0])
      roster.expect(RosterRecords(members: [removal]), isVouchedFor: true, isNew: false)
      #expect(roster[first.subject]?.identity == first.identity && roster[first.subject]?.isActive == true)
    }
  }

  @Test(
    "distinguishes members by what their names look like, and by their IDs",
    arguments: [
      ("desk", "d\u{435}sk"), ("desk", "de\u{200B}sk"), ("desk", "des\u{FE0F}k"), ("café", "cafe\u{301}"),
      ("desk", "ｄｅｓｋ"), ("Mac", "\u{41C}\u{430}c"),
    ])
  func lookalikes(name: String, other: String) throws {
    var roster = scene.roster()
    roster.expect(RosterRecords(names: [try scene.name(members[1], name, at: 5, by: members[0])]))
    #expect(try roster.activeMember(name).identity == members[1].publicIdentity)
    #expect(throws: GodwitError.self) { try roster.requireFree(other, for: members[2].replica) }
    #expect(throws: Never.self) { try roster.requireFree(other, for: members[1].replica) }
    #expect(throws: Never.self) { try roster.requireFree("Desk 2", for: members[2].replica) }
    roster.expect(RosterRecords(names: [try scene.name(members[2], other, at: 5, by: members[2])]))
    for name in [name, other] {
      #expect(throws: GodwitError.self) { try roster.activeMember(name) }
    }
    #expect(try roster.activeMember("\(members[2].replica)").identity == members[2].publicIdentity)
  }

  @Test("takes no record of a stranger, of another group, or a replica's word for itself")
  func refused() throws {
    let stranger = try RosterScene.identity(9)
    let other = GroupID(Identifier128(high: 8, low: 8))
    let cases = [
      try scene.record(stranger.publicIdentity, at: 50, by: stranger),
      try scene.record(members[1].publicIdentity, .removed, at: 50, by: stranger),
      try scene.record(members[1].publicIdentity, at: 50, by: members[1]),
      try MemberRecord.issue(
        group: other, identity: members[1].publicIdentity, name: "x", status: .removed, at: 50, by: members[0]),
      try scene.record(RosterScene.identity(1).publicIdentity, at: 50, by: members[0]),
    ]
    for record in cases {
      for isVouchedFor in [false, true] {
        var roster = scene.roster()
        roster.expect(RosterRecords(members: [record]), isVouchedFor: isVouchedFor, isNew: false)
      }
    }
  }

  @Test("a removal is not undone by a rename that had not seen it, and undoes the removed one's own, in whatever order")
  func renameAndRemoval() throws {
    let removal = RosterRecords(members: [
      try scene.record(members[1].publicIdentity, .removed, at: 100, by: members[0])
    ])
    for issuer in [members[1], members[2]] {
      let rename = RosterRecords(names: [try scene.name(members[1], "later", at: 200, by: issuer)])
      for order in [[removal, rename], [rename, removal]] {
        var roster = scene.roster()
        for records in order { roster.merge(records, isVouchedFor: true) }
        #expect(roster[members[1].replica]?.isActive == false)
        let isOwn = issuer.replica == members[1].replica
        #expect(roster[members[1].replica]?.name == (isOwn ? scene.additions[1].name : "later"))
      }
    }
  }

  @Test("who overrules what is known states it later, whatever the clock says")
  func issueTime() throws {
    var roster = scene.roster()
    #expect(roster.issueTime(about: members[1].replica, -5) == 2)
    #expect(roster.issueTime(about: members[1].replica, 1_000) == 1_000)
    let last = MemberRecord.issuedBeforeMilliseconds - 1
    roster.merge(RosterRecords(names: [try scene.name(members[1], "x", at: last, by: members[0])]))
    #expect(roster.issueTime(about: members[1].replica, 1_000) == last)
    #expect(roster.issueTime(about: members[2].replica, .max) == last)
    #expect(try roster.issueTime(about: RosterScene.identity(9).replica, 3) == 3)
  }

  @Test("at the end of time a removal still counts")
  func endOfTime() throws {
    var roster = scene.roster()
    let last = MemberRecord.issuedBeforeMilliseconds - 1
    roster.merge(RosterRecords(members: [try scene.record(members[1].publicIdentity, at: last, by: members[2])]))
    let removal = try scene.record(members[1].publicIdentity, .removed, at: last, by: members[0])
    roster.expect(RosterRecords(members: [removal]))
    #expect(roster[members[1].replica]?.isActive == false)
  }

  @Test("what is dated beyond the end of time counts nowhere, whoever brings it and in whatever order")
  func beyondTheEndOfTime() throws {
    let end = MemberRecord.issuedBeforeMilliseconds
    for time in [end, .max] {
      let beyond = RosterRecords(
        members: [
          try scene.record(members[1].publicIdentity, .removed, at: time, by: members[2]),
          try scene.record(RosterScene.identity(9).publicIdentity, at: time, by: members[2]),
        ],
        names: [try scene.name(members[3], "x", at: time, by: members[2])])
      let removal = RosterRecords(members: [
        try scene.record(members[2].publicIdentity, .removed, at: 100, by: members[0])
      ])
      for isVouchedFor in [false, true] {
        var roster = scene.roster()
        roster.expect(beyond, isVouchedFor: isVouchedFor, isNew: false)
        roster.expect(removal)
        roster.expect(beyond, isVouchedFor: isVouchedFor, isNew: false)
        #expect(roster.active.map(\.identity.replica) == [members[0], members[1], members[3]].map(\.replica))
      }
      var trusted = scene.roster().records
      trusted.members += beyond.members
      trusted.names += beyond.names
      #expect(Roster(group: scene.group, trusted: trusted).records == (scene.roster().records))
    }
  }

  @Test("takes in no more successors than all can carry, so that nobody fills the keyrings of all")
  func tooManySuccessors() throws {
    let scene = try RosterScene(129)
    let histories = try scene.identities.map { first in
      var history = IdentityHistory(first.publicIdentity)
      var present = first
      for time in 0..<32 {
        let next = try Identity.generate(replica: first.replica)
        try history.append(next, after: present, group: scene.group, at: Int64(time))
        present = next
      }
      return history
    }
    var roster = scene.roster()
    roster.expect(RosterRecords(histories: Array(histories.dropLast())))
    roster.expect(RosterRecords(histories: histories), isNew: false)
    #expect(roster.records.histories.count == 128)
    #expect(RosterRecords.encode(roster.records.histories).count < 16 << 20)
  }

  @Test("takes in no more members than a file can carry, so that nobody stops the group by adding more")
  func tooManyMembers() throws {
    var roster = scene.roster()
    let identity = try RosterScene.identity(0)
    func records(_ numbers: Range<Int>) throws -> [MemberRecord] {
      try numbers.map { number in
        let puppet = try PublicIdentity(
          replica: ReplicaID(Identifier128(high: 1, low: UInt64(number + 1))),
          recipient: identity.publicIdentity.recipient, verificationKey: identity.publicIdentity.verificationKey)
        return try scene.record(puppet, at: 5, by: members[1])
      }
    }
    roster.expect(RosterRecords(members: try records(4..<1_000)))
    roster.expect(RosterRecords(members: try records(1_000..<2_000)), isVouchedFor: true)
    #expect(roster.all.count == 1_024 && !roster.hasRoom)
    roster.expect(RosterRecords(members: try records(3_000..<3_010)), isVouchedFor: true, isNew: false)
    let removal = try scene.record(roster.all[1_000].identity, .removed, at: 9, by: members[0])
    roster.expect(RosterRecords(members: [removal]))
    #expect(roster.active.count == 1_023 && !roster.hasRoom)
  }

  @Test("is the same everywhere once all have all records, whoever stated what meanwhile", arguments: 1...20)
  func converges(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var keys = members
    var rosters = (0..<4).map { _ in scene.roster() }
    for step in 0..<30 {
      let here = Int.random(in: 0..<4, using: &random)
      let subject = Int.random(in: 0..<4, using: &random)
      let time = rosters[here].issueTime(about: keys[subject].replica, Int64.random(in: 0...40, using: &random))
      switch Int.random(in: 0..<6, using: &random) {
      case 0:
        let name = try NameRecord.issue(
          group: scene.group, subject: keys[subject].replica, name: "name \(step)", at: time, by: keys[here],
          ground: rosters[here].ground(of: keys[here].replica))
        rosters[here].merge(RosterRecords(names: [name]))
      case 1:
        let status = [MemberRecord.Status.active, .removed].randomElement(using: &random) ?? .active
        guard let known = rosters[here][keys[subject].replica] else { continue }
        let record =
          status == .removed
          ? try rosters[here].removal(of: known, by: keys[here], at: time)
          : try MemberRecord.issue(
            group: scene.group, identity: known.identity, name: "again", status: .active, at: time, by: keys[here],
            ground: rosters[here].ground(of: keys[here].replica))
        rosters[here].merge(RosterRecords(members: [record]))
      case 2:
        guard var history = rosters[here][keys[here].replica]?.history else { continue }
        let next = try Identity.generate(replica: keys[here].replica)
        try history.append(next, after: keys[here], group: scene.group, at: time)
        rosters[here].expect(RosterRecords(histories: [history]))
        keys[here] = next
      default: rosters[here].merge(rosters[subject].records, isVouchedFor: true)
      }
    }
    for _ in 0..<2 {
      for here in 0..<4 {
        for there in 0..<4 { rosters[here].merge(rosters[there].records, isVouchedFor: true) }
      }
    }
    for roster in rosters {
      #expect(roster.records == rosters[0].records)
      #expect(roster.all.map(\.identity) == rosters[0].all.map(\.identity))
    }
    for index in 0..<4 { #expect(rosters[0][keys[index].replica]?.identity == keys[index].publicIdentity) }
    let loaded = Roster(group: scene.group, trusted: rosters[0].records)
    #expect(loaded.records == rosters[0].records && loaded.isSigned)
  }
}
