import GodwitBase
import Testing

@testable import Godwit
@testable import GodwitEngine
@testable import GodwitCrypto
@testable import GodwitKeys

@Suite("A removal")
struct StrongRemovalTests {
  private let scene: RosterScene
  private var members: [Identity] { scene.identities }
  private let puppet: Identity

  init() throws {
    scene = try RosterScene(4)
    puppet = try RosterScene.identity(9)
  }

  /// The rosters that follow from the records in many orders, a few at a time; they are the same, and one of them.
  private func roster(_ members: [MemberRecord], _ names: [NameRecord] = []) -> Roster {
    var random = SeededGenerator(seed: 1)
    let rosters = (0..<5).map { _ in
      var roster = scene.roster()
      // What comes before its grounds comes again: every file has all that its sender knows.
      for _ in 0..<members.count {
        for record in members.shuffled(using: &random) {
          roster.merge(RosterRecords(members: [record]), isVouchedFor: true)
        }
        for name in names.shuffled(using: &random) {
          roster.merge(RosterRecords(names: [name]), isVouchedFor: true)
        }
      }
      return roster
    }
    for roster in rosters { #expect(roster.records == rosters[0].records) }
    var whole = scene.roster()
    whole.merge(RosterRecords(members: members, names: names), isVouchedFor: true)
    #expect(whole.records == rosters[0].records)
    let loaded = Roster(group: scene.group, trusted: whole.records)
    #expect(loaded.records == whole.records && loaded.isSigned)
    return whole
  }

  @Test("keeps out whom the removed member adds, dated back or not, whoever vouches for it")
  func puppets() throws {
    let removal = try scene.record(members[1].publicIdentity, .removed, at: 100, by: members[0])
    for time in [Int64(50), 200] {
      let added = try scene.record(puppet.publicIdentity, at: time, by: members[1])
      let result = roster([removal, added])
      #expect(!result.has(puppet) && !result.has(members[1]) && result.active.count == 3)
      #expect(result.records.lapsed == [puppet.replica] && result.records.statuses[puppet.replica] == .removed)
    }
  }

  @Test(
    "is not undone by whoever has stated once more that its issuers are members, dated back or not",
    arguments: [Int64(-5), 0, 20])
  func restated(time: Int64) throws {
    let (founder, hostile, other) = (members[0], members[1], members[2])
    let (first, second) = (puppet, try RosterScene.identity(8))
    var roster = scene.roster()
    let additions = try [first, second].map { try scene.record($0.publicIdentity, at: 10, by: hostile) }
    roster.merge(RosterRecords(members: additions))
    let again = try [founder, other].map {
      try scene.record($0.publicIdentity, at: time, by: second, ground: additions[1])
    }
    roster.merge(RosterRecords(members: again))
    var removals: [MemberRecord] = []
    for remover in [founder, other] {
      var here = roster
      for (number, target) in [hostile, second, first].enumerated() {
        let entry = try #require(here[target.replica])
        let removal = try here.removal(of: entry, by: remover, at: Int64(100 + number))
        here.merge(RosterRecords(members: [removal]))
        removals.append(removal)
      }
    }
    roster.merge(RosterRecords(members: removals))
    let revenge = try scene.record(second.publicIdentity, .removed, at: 500, by: first, ground: additions[0])
    roster.merge(RosterRecords(members: [revenge]))
    #expect(!roster.has(hostile) && !roster.has(first) && !roster.has(second))
    #expect(roster.has(founder) && roster.has(other) && roster.has(members[3]))
  }

  @Test("leaves what it names, and what an active member states again")
  func staying() throws {
    let added = try scene.record(puppet.publicIdentity, at: 50, by: members[1])
    let naming = try scene.record(members[1].publicIdentity, .removed, at: 100, by: members[0], staying: [added])
    #expect(roster([added, naming]).has(puppet))
    let bare = try scene.record(members[1].publicIdentity, .removed, at: 100, by: members[0])
    let again = try scene.record(puppet.publicIdentity, at: 150, by: members[2])
    #expect(roster([added, bare, again]).has(puppet))
    // Two removals leave what both name.
    let second = try scene.record(members[1].publicIdentity, .removed, at: 101, by: members[2])
    #expect(!roster([added, naming, second]).has(puppet))
  }

  @Test("names all that its issuer knows of the removed member, which so stays")
  func known() throws {
    let added = try scene.record(puppet.publicIdentity, at: 50, by: members[1])
    let name = try scene.name(members[2], "attic", at: 60, by: members[1])
    let out = try scene.record(members[3].publicIdentity, .removed, at: 70, by: members[1])
    var here = scene.roster()
    here.merge(RosterRecords(members: [added, out], names: [name]))
    let entry = try #require(here[members[1].replica])
    let removal = try here.removal(of: entry, by: members[0], at: 100)
    #expect(Set(removal.staying) == [added.hash, out.hash, name.hash])
    let result = roster([added, out, removal], [name])
    #expect(result.has(puppet) && !result.has(members[3]) && !result.has(members[1]))
    #expect(result[members[2].replica]?.name == "attic")
  }

  @Test("reaches along a chain: whom the removed one added, and whom that one added, are out or in together")
  func chain() throws {
    let last = try RosterScene.identity(10)
    let first = try scene.record(puppet.publicIdentity, at: 50, by: members[1])
    let second = try scene.record(last.publicIdentity, at: 60, by: puppet, ground: first)
    let removal = try scene.record(members[1].publicIdentity, .removed, at: 100, by: members[0])
    let out = roster([first, second, removal])
    #expect(!out.has(puppet) && !out.has(last))
    let naming = try scene.record(members[1].publicIdentity, .removed, at: 100, by: members[0], staying: [first])
    let stays = roster([first, second, naming])
    #expect(stays.has(puppet) && stays.has(last))
    // What a lapsed member states removes nobody.
    let revenge = try scene.record(members[2].publicIdentity, .removed, at: 70, by: puppet, ground: first)
    #expect(roster([first, removal, revenge]).has(members[2]))
  }

  @Test("is not answered by removing others, but by removing the remover: then both are out")
  func mutual() throws {
    let removal = try scene.record(members[1].publicIdentity, .removed, at: 100, by: members[2])
    let third = try scene.record(members[3].publicIdentity, .removed, at: 50, by: members[1])
    let back = try scene.record(members[2].publicIdentity, .removed, at: 50, by: members[1])
    #expect(roster([removal, third]).has(members[3]))
    let result = roster([removal, third, back])
    #expect(!result.has(members[1]) && !result.has(members[2]) && result.has(members[3]))
    // Neither can have let anybody in that the other did not know.
    let added = try scene.record(puppet.publicIdentity, at: 40, by: members[1])
    #expect(!roster([removal, back, added]).has(puppet))
  }

  @Test("counts with all others of a circle that nobody outside breaks, and not in one that somebody breaks")
  func circles() throws {
    let circle = try (1...3).map { number in
      try scene.record(members[number % 3 + 1].publicIdentity, .removed, at: 100, by: members[number])
    }
    #expect(roster(circle).active.map(\.identity) == [members[0].publicIdentity])
    let breaking = try scene.record(members[1].publicIdentity, .removed, at: 90, by: members[0])
    // 1 is out, so 2 is not removed, so 3 is.
    let result = roster(circle + [breaking])
    #expect(!result.has(members[1]) && result.has(members[2]) && !result.has(members[3]))
  }

  @Test("holds for what the member stated before also when the member is added again, and not for what it states since")
  func again() throws {
    let added = try scene.record(puppet.publicIdentity, at: 5_000, by: members[1])
    let removal = try scene.record(members[1].publicIdentity, .removed, at: 100, by: members[0])
    let back = try scene.record(members[1].publicIdentity, at: 200, by: members[2])
    let result = roster([added, removal, back])
    #expect(result.has(members[1]) && !result.has(puppet))
    #expect(result.ground(of: members[1].replica) == back.hash)
    let since = try scene.record(puppet.publicIdentity, at: 210, by: members[1], ground: back)
    #expect(roster([added, removal, back, since]).has(puppet))
  }

  @Test("takes back names that the removed member gave and the removal does not know")
  func names() throws {
    let early = try scene.name(members[2], "early", at: 50, by: members[0])
    let evil = try scene.name(members[2], "evil", at: 60, by: members[1])
    let removal = try scene.record(members[1].publicIdentity, .removed, at: 100, by: members[0])
    #expect(roster([removal], [early, evil])[members[2].replica]?.name == "early")
    let later = try scene.name(members[1], "mine", at: 300, by: members[1])
    #expect(roster([removal], [later])[members[1].replica]?.name == scene.additions[1].name)
  }

  @Test("of the founder leaves those whom it names, and the group continues without it")
  func founder() throws {
    let here = scene.roster()
    let entry = try #require(here[members[0].replica])
    let removal = try here.removal(of: entry, by: members[1], at: 100)
    let late = try scene.record(puppet.publicIdentity, at: 90, by: members[0])
    let result = roster([removal, late])
    #expect(!result.has(members[0]) && !result.has(puppet) && result.active.count == 3)
    let back = try scene.record(members[0].publicIdentity, at: 200, by: members[2])
    let again = roster([removal, late, back])
    #expect(again.has(members[0]) && !again.has(puppet) && again.ground(of: members[0].replica) == back.hash)
  }

  @Test("is not undone by later records of the removed member about those whom the removal leaves")
  func superseded() throws {
    let added = try scene.record(puppet.publicIdentity, at: 50, by: members[1])
    let removal = try scene.record(members[1].publicIdentity, .removed, at: 100, by: members[0], staying: [added])
    let later = try scene.record(puppet.publicIdentity, at: 60, by: members[1])
    let out = try scene.record(puppet.publicIdentity, .removed, at: 70, by: members[1])
    #expect(roster([added, removal, later, out]).has(puppet))
  }

  @Test("of one who filled the group with puppets makes room again")
  func room() throws {
    let additions = try puppets(0..<1_020).map { try scene.record($0, at: 50, by: members[1]) }
    var here = scene.roster()
    here.merge(RosterRecords(members: additions), isVouchedFor: true)
    #expect(here.active.count == 1_024 && !here.hasRoom)
    here.merge(
      RosterRecords(members: [try scene.record(members[1].publicIdentity, .removed, at: 100, by: members[0])]))
    #expect(here.active.count == 3 && here.hasRoom)
    let newcomer = try RosterScene.identity(5_000)
    here.merge(RosterRecords(members: [try scene.record(newcomer.publicIdentity, at: 110, by: members[0])]))
    #expect(here.has(newcomer) && here.all.count == 1_024)
  }

  private func puppets(_ numbers: Range<Int>) throws -> [PublicIdentity] {
    let keys = puppet.publicIdentity
    return try numbers.map {
      try PublicIdentity(
        replica: ReplicaID(Identifier128(high: 2, low: UInt64($0))), recipient: keys.recipient,
        verificationKey: keys.verificationKey)
    }
  }

  @Test("of puppets, however many and whatever they name, leaves a keyring room")
  func filled() throws {
    let (founder, hostile) = (members[0], members[1])
    var random = SeededGenerator(seed: 3)
    let madeUp = try (0..<MemberRecord.stayingCountMax).map { number in
      try scene.record(puppet.publicIdentity, at: Int64(number), by: hostile)
    }
    let all = try puppets(0..<150)
    let puppeteers = try (20..<22).map { try RosterScene.identity($0) }
    var records = try all.map { try scene.record($0, at: 10, by: hostile) }
    for puppeteer in puppeteers {
      let addition = try scene.record(puppeteer.publicIdentity, at: 5, by: hostile)
      records.append(addition)
      records += try all.map {
        try scene.record($0, .removed, at: 20, by: puppeteer, ground: addition, staying: madeUp)
      }
    }
    let honest = try scene.record(members[3].publicIdentity, .removed, at: 15, by: members[2], staying: [records[0]])
    let later = try scene.record(members[3].publicIdentity, .removed, at: 16, by: founder, staying: [records[0]])
    var here = scene.roster()
    here.merge(RosterRecords(members: (records + [honest, later]).shuffled(using: &random)))
    #expect(Roster(group: scene.group, trusted: here.records).records == here.records)
    let named = here.records.furtherMembers.reduce(0) { $0 + $1.staying.count }
    #expect((130_000...RosterRecords.furtherNamedMax).contains(named))
    #expect(here.records.furtherMembers.contains(honest))
    try here.take(
      RosterRecords(members: [here.removal(of: try #require(here[hostile.replica]), by: founder, at: 100)]))
    #expect(!here.has(hostile) && !here.has(members[3]))
    let removal = try #require(here.records.members.first { $0.staying.count == MemberRecord.stayingCountMax })
    var writer = ByteWriter()
    removal.encode(to: &writer)
    let most =
      RosterRecords.countMax * writer.count + RosterRecords.furtherNamedMax * 32
      + (RosterRecords.countMax + 2 * RosterRecords.furtherCountMax) * 1_500 + 7_500_000
    #expect(most < Keyring.byteCountMax - 8 << 20)
  }
}
