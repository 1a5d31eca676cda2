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

  @Test("that is not of its form is damage", arguments: [17, 18, 19] as [UInt64])
  func malformed(tag: UInt64) throws {
    let contents = KeyringContents(
      identity: try newIdentity(), entries: [KeyringEntry(tag: tag, bytes: SecretBytes(random: 50))])
    let expected = code {
      if tag == 17 { _ = try contents.formerIdentities } else { _ = try contents.roster }
    }
    #expect(expected == .damagedKeyring)
  }
}
