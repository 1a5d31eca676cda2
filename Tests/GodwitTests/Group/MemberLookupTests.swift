import Foundation
import Godwit
import Testing

@Suite("Naming a member")
struct MemberLookupTests {
  /// Three members of which the last was removed, and a machine that is called as that one was.
  private let group: TestGroup
  private let newcomer: PublicIdentity

  init() async throws {
    group = try await TestGroup(3)
    try await group.introduce()
    newcomer = try await Replica.identity(at: group.folder.file("newcomer"))
    try await group[0].members.remove("replica-2")
    group.clock.advance(10)
    try await invite("replica-2")
  }

  private func invite(_ name: String) async throws {
    try await group[0].members.invite(
      newcomer, name: name, verification: .trustOnFirstUse, to: .file(group.folder.file("invitation")))
  }

  private func found(_ text: String) async throws -> ReplicaID {
    try await group[0].members.member(named: text).identity.replica
  }

  @Test("a name is an active member's before a removed one's; IDs and their first digits name both")
  func order() async throws {
    let removed = group[2].identity.replica
    for _ in 0..<8 { #expect(try await found("replica-2") == newcomer.replica) }
    for replica in [removed, newcomer.replica, group[0].identity.replica] {
      #expect(try await found("\(replica)") == replica)
      #expect(try await found("\(replica)".uppercased()) == replica)
      #expect(try await found(String("\(replica)".prefix(16))) == replica)
    }
    #expect(await code { try await found(String("\(removed)".prefix(3))) } == .invalidArgument)
    #expect(await code { try await found("nobody") } == .invalidArgument)
    #expect(try await group[0].members.member(named: "\(removed)").isActive == false)
  }

  @Test("a removed member's name is its own while nobody else has it; several are listed and none is taken")
  func ambiguous() async throws {
    try await group[0].members.remove("replica-1")
    #expect(try await found("replica-1") == group[1].identity.replica)
    group.clock.advance(10)
    try await group[0].members.remove("replica-2")
    let refusal = await error { try await found("replica-2") }
    #expect(refusal?.code == .invalidArgument)
    for replica in [newcomer.replica, group[2].identity.replica] {
      #expect(refusal?.message.contains("replica-2 (removed) \(replica)") == true)
    }
  }

  @Test("is the same for incarnations, files, renames and removals, of which the last three are of active members")
  func everywhere() async throws {
    let (active, removed) = ("\(group[1].identity.replica)", "\(group[2].identity.replica)")
    let prefix = String(active.prefix(16))
    try await group.send(from: 1, to: 0)
    let lives = try await group[0].members.incarnations(of: prefix)
    #expect(try await group[0].members.incarnations(of: "replica-1").map(\.id) == lives.map(\.id))
    #expect(!lives.isEmpty && lives.allSatisfy { $0.replica == group[1].identity.replica })
    #expect(try await group[0].members.incarnations(of: removed).allSatisfy { $0.replica == group[2].identity.replica })
    try await group[0].members.end(try #require(lives.first).id, of: active)
    #expect(try await group[0].members.incarnations(of: active).first?.hasEnded == true)
    let file = group.folder.file("file")
    #expect(try await group[0].export(to: .file(file), for: prefix).recipients == 2)
    #expect(await code { try await group[0].export(to: .file(file), for: removed) } == .invalidArgument)
    #expect(await code { try await group[0].members.remove(removed) } == .invalidArgument)
    try await group[0].members.rename(prefix, to: "attic")
    #expect(try await found("attic") == group[1].identity.replica)
    try await group[0].members.remove(prefix)
    #expect(try await group[0].members.member(named: "attic").isActive == false)
  }
}
