import GodwitBase
import Testing

@testable import GodwitCrypto
@testable import GodwitKeys

@Suite("Membership in a keyring")
struct KeyringMembershipTests {
  @Test("records and old keys are kept, and go when there are none")
  func kept() throws {
    let (first, group) = (try newIdentity(), newGroup())
    var contents = KeyringContents(identity: first, group: group)
    let plain = try contents.encoded()
    let next = try Identity.generate(replica: first.replica)
    var history = IdentityHistory(first.publicIdentity)
    try history.append(next, after: first, group: group, at: 1)
    let name = try NameRecord.issue(group: group, subject: first.replica, name: "x", at: 2, by: next)
    let roster = RosterRecords(names: [name], histories: [history])
    contents.setRoster(roster)
    try contents.replaceIdentity(by: next)
    contents = try KeyringContents(decoding: contents.encoded())
    #expect(try contents.roster == roster)
    #expect(contents.identity.publicIdentity == next.publicIdentity)
    #expect(try contents.formerIdentities.map(\.publicIdentity) == [first.publicIdentity])
    #expect(try contents.ageIdentities.map(\.recipient) == [next, first].map(\.ageIdentity.recipient))
    contents.setRoster(RosterRecords())
    contents.entries.removeAll { $0.tag == 17 }
    contents.identity = first
    #expect(try contents.encoded() == plain)
  }

  @Test("of old keys the latest 32 are kept")
  func former() throws {
    let first = try newIdentity()
    var contents = KeyringContents(identity: first)
    let next = try (0..<33).map { _ in try Identity.generate(replica: first.replica) }
    for identity in next { try contents.replaceIdentity(by: identity) }
    #expect(try contents.formerIdentities.map(\.publicIdentity) == next.dropLast().reversed().map(\.publicIdentity))
  }

  private func epoch(_ createdAt: Int64, by maker: UInt64 = 1) throws -> Epoch {
    Epoch(
      try EpochKey.generate(.x25519, at: createdAt), set: .zero, maker: ReplicaID(Identifier128(high: 0, low: maker)))
  }

  @Test("of epochs the latest 64 are kept, 8 of a maker, and open files behind the own keys")
  func epochs() throws {
    let own = try newIdentity()
    var contents = KeyringContents(identity: own)
    var made: [Epoch] = []
    for number in 0..<10 { made.append(try epoch(Int64(number))) }
    for epoch in made.shuffled() { try contents.add(epoch) }
    contents = try KeyringContents(decoding: contents.encoded())
    let kept = try contents.epochs
    #expect(kept.map(\.key.createdAt) == [9, 8, 7, 6, 5, 4, 3, 2])
    #expect(kept.map(\.maker) == [ReplicaID](repeating: made[0].maker, count: 8) && kept.allSatisfy { $0.set == .zero })
    #expect(try contents.ageIdentities.map(\.recipient) == [own.ageIdentity.recipient] + kept.map(\.key.recipient))
    // One that is known stays what it is.
    try contents.add(Epoch(kept[0].key, set: .zero, maker: ReplicaID(Identifier128(high: 7, low: 7))))
    #expect(try contents.epochs.map(\.maker) == kept.map(\.maker))
    for number in 0..<70 { try contents.add(epoch(100 + Int64(number), by: UInt64(10 + number))) }
    #expect(try contents.epochs.map(\.key.createdAt) == (106..<170).reversed().map { Int64($0) })
  }

  @Test("an epoch is for the recipients that it was brought to, for 30 days")
  func usable() throws {
    let day: Int64 = 86_400_000
    let made = try epoch(0)
    #expect(made.isUsable(for: .zero, at: 0) && made.isUsable(for: .zero, at: 30 * day - 1))
    #expect(made.isUsable(for: .zero, at: -day))
    #expect(!made.isUsable(for: .zero, at: 30 * day) && !made.isUsable(for: .zero, at: -day - 1))
    #expect(!made.isUsable(for: [UInt8](repeating: 1, count: 9).withUnsafeBytes { ContentHash(of: $0) }, at: 0))
    #expect(Epoch.isBefore(made, try epoch(1)) && !Epoch.isBefore(made, made))
  }

  @Test("that is not of its form is damage", arguments: [17, 18, 19, 21] as [UInt64])
  func malformed(tag: UInt64) throws {
    let contents = KeyringContents(
      identity: try newIdentity(), entries: [KeyringEntry(tag: tag, bytes: SecretBytes(random: 50))])
    let expected = code {
      switch tag {
      case 17: _ = try contents.formerIdentities
      case 21: _ = try contents.epochs
      default: _ = try contents.roster
      }
    }
    #expect(expected == .damagedKeyring)
  }
}
