import GodwitBase
import Testing

@testable import Godwit
@testable import GodwitEngine
@testable import GodwitCrypto
@testable import GodwitKeys

/// Four honest replicas and a hostile member, whose removal reaches some late.
private struct RosterWorld {
  let scene: RosterScene
  var random: SeededGenerator
  var rosters: [Roster]
  /// Whom the hostile member made, with what each stands on.
  var puppets: [(identity: Identity, ground: MemberRecord?)]
  var newcomers: [Identity] = []
  var said: [MemberRecord] = []
  var names: [NameRecord] = []
  var time: Int64 = 10

  init(seed: UInt64) throws {
    scene = try RosterScene(5)
    random = SeededGenerator(seed: seed)
    rosters = (0..<4).map { [scene] _ in scene.roster() }
    puppets = [(scene.identities[4], nil)]
  }

  mutating func removeHostile() throws {
    let entry = try #require(rosters[0][scene.identities[4].replica])
    say(try rosters[0].removal(of: entry, by: scene.identities[0], at: time), at: 0)
  }

  mutating func step(_ number: Int, isRemoved: Bool) throws {
    time += Int64.random(in: 0...3, using: &random)
    let here = Int.random(in: 0..<4, using: &random)
    // Who believes to be removed states nothing.
    let isActive = rosters[here].has(scene.identities[here])
    switch Int.random(in: 0..<7, using: &random) {
    case 0 where isActive:
      let newcomer = try RosterScene.identity(100 + number)
      newcomers.append(newcomer)
      say(try record(newcomer, here), at: here)
    case 1 where isActive:
      let name = try NameRecord.issue(
        group: scene.group, subject: scene.identities[Int.random(in: 0..<4, using: &random)].replica,
        name: "name \(number)", at: time, by: scene.identities[here],
        ground: rosters[here].ground(of: scene.identities[here].replica))
      names.append(name)
      rosters[here].merge(RosterRecords(names: [name]), isVouchedFor: true)
    case 2...3 where isRemoved:
      try attack(number, at: here)
    default:
      let there = Int.random(in: 0..<4, using: &random)
      rosters[here].merge(rosters[there].records, isVouchedFor: true)
    }
  }

  private func record(_ subject: Identity, _ here: Int) throws -> MemberRecord {
    try MemberRecord.issue(
      group: scene.group, identity: subject.publicIdentity, name: "newcomer", status: .active, at: time,
      by: scene.identities[here], ground: rosters[here].ground(of: scene.identities[here].replica))
  }

  /// Somebody may have taken it in before the removal came there: with it come the records it stands on.
  private mutating func attack(_ number: Int, at here: Int) throws {
    let issuer = puppets.randomElement(using: &random) ?? puppets[0]
    let dated = Int64.random(in: 2...(2 * time), using: &random)
    let isRemoval = Bool.random(using: &random)
    let subject =
      isRemoval ? scene.identities[.random(in: 1..<4, using: &random)] : try RosterScene.identity(1_000 + number)
    let record = try scene.record(
      subject.publicIdentity, isRemoval ? .removed : .active, at: dated, by: issuer.identity, ground: issuer.ground)
    if !isRemoval { puppets.append((subject, record)) }
    said.append(record)
    let told = said.filter { $0.issuer == issuer.identity.replica } + puppets.compactMap(\.ground)
    rosters[here].merge(RosterRecords(members: told), isVouchedFor: true)
  }

  private mutating func say(_ record: MemberRecord, at here: Int) {
    said.append(record)
    rosters[here].merge(RosterRecords(members: [record]), isVouchedFor: true)
  }

  mutating func exchangeAll() {
    for _ in 0..<3 {
      for here in 0..<4 {
        for there in 0..<4 { rosters[here].merge(rosters[there].records, isVouchedFor: true) }
      }
    }
  }
}

@Suite("Rosters of a group in parts")
struct RosterWorldTests {
  @Test(
    "come to one in the end, in which the removed member and its puppets are out and all others in", arguments: 1...24)
  func strongRemoval(seed: UInt64) throws {
    var world = try RosterWorld(seed: seed)
    for number in 0..<8 { try world.step(number, isRemoved: false) }
    try world.removeHostile()
    for number in 8..<48 { try world.step(number, isRemoved: true) }
    world.exchangeAll()
    for roster in world.rosters {
      #expect(roster.records == world.rosters[0].records)
      for puppet in world.puppets { #expect(!roster.has(puppet.identity)) }
      for honest in world.scene.identities.prefix(4) + world.newcomers { #expect(roster.has(honest)) }
    }
    // So does whoever gets the records otherwise.
    for _ in 0..<2 {
      var other = world.scene.roster()
      for _ in 0..<8 {
        for chunk in world.said.shuffled(using: &world.random).chunks(of: 3) {
          other.merge(RosterRecords(members: chunk), isVouchedFor: true)
        }
      }
      other.merge(RosterRecords(names: world.names), isVouchedFor: true)
      #expect(other.active.map(\.identity) == world.rosters[0].active.map(\.identity))
      #expect(other.active.map(\.name) == world.rosters[0].active.map(\.name))
    }
  }

  @Test("come to one in the end whoever removes whom", arguments: 1...24)
  func anything(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let scene = try RosterScene(4)
    var issuers = scene.identities.map { ($0, nil as MemberRecord?) }
    var said: [MemberRecord] = []
    for number in 0..<24 {
      let (issuer, ground) = issuers.randomElement(using: &random) ?? issuers[0]
      let isNew = Int.random(in: 0..<4, using: &random) == 0
      let subject =
        isNew ? try RosterScene.identity(20 + number) : (issuers.randomElement(using: &random) ?? issuers[0]).0
      guard subject.replica != issuer.replica else { continue }
      let isRemoval = !isNew && Int.random(in: 0..<3, using: &random) > 0
      let record = try scene.record(
        subject.publicIdentity, isRemoval ? .removed : .active, at: .random(in: 2...30, using: &random), by: issuer,
        ground: ground, staying: isRemoval ? said.filter { _ in Bool.random(using: &random) } : [])
      if !isRemoval { issuers.append((subject, record)) }
      said.append(record)
    }
    var rosters = (0..<5).map { _ in scene.roster() }
    for record in said + said {
      rosters[.random(in: 0..<5, using: &random)].merge(RosterRecords(members: [record]), isVouchedFor: true)
      let (here, there) = (Int.random(in: 0..<5, using: &random), Int.random(in: 0..<5, using: &random))
      rosters[here].merge(rosters[there].records, isVouchedFor: true)
    }
    for here in 0..<5 {
      for _ in 0..<said.count { rosters[here].merge(RosterRecords(members: said), isVouchedFor: true) }
    }
    for roster in rosters { #expect(roster.records == rosters[0].records) }
  }
}

extension Array {
  fileprivate func chunks(of count: Int) -> [[Element]] {
    stride(from: 0, to: self.count, by: count).map { Array(self[$0..<Swift.min($0 + count, self.count)]) }
  }
}
