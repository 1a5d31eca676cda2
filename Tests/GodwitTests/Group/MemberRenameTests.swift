import Foundation
import Godwit
import Testing

@Suite("The rename of a member")
struct MemberRenameTests {
  private let group: TestGroup

  init() async throws {
    group = try await TestGroup(3)
    try await group.introduce()
  }

  private func names(_ index: Int) async throws -> [String] {
    let members = try await group[index].members.list()
    return group.replicas.compactMap { replica in members.first { $0.identity == replica.identity }?.name }
  }

  @Test("travels with the next file, also by relay, and files are exported for the new name")
  func travels() async throws {
    try await group[0].members.rename("replica-1", to: "attic")
    #expect(try await names(0) == ["replica-0", "attic", "replica-2"])
    try await group.send(from: 0, to: 1)
    try await group.send(from: 1, to: 2)
    for index in 0..<3 { #expect(try await names(index) == ["replica-0", "attic", "replica-2"]) }
    let file = group.folder.file("file")
    #expect(await code { try await group[2].export(to: .file(file), for: "replica-1") } == .invalidArgument)
    #expect(try await group[2].export(to: .file(file), for: "attic").recipients == 2)
    let again = try await TestGroup.open(group[2].path)
    #expect(try await again.members.list().contains { $0.name == "attic" })
    await again.close()
  }

  @Test("may be one's own, and may be done again")
  func own() async throws {
    try await group[1].members.rename("replica-1", to: "attic")
    try await group.send(from: 1, to: 0)
    group.clock.advance(-10_000_000)
    try await group[0].members.rename("attic", to: "cellar")
    try await group.send(from: 0, to: 1)
    #expect(try await names(1) == ["replica-0", "cellar", "replica-2"])
  }

  @Test("that two give at once comes to one outcome everywhere", arguments: [-1_000, 0, 1_000])
  func concurrent(later: Int64) async throws {
    group.clock.advance(10_000)
    try await group[0].members.rename("replica-2", to: "attic")
    group.clock.advance(later)
    try await group[1].members.rename("replica-2", to: "cellar")
    try await group.settle()
    let outcome = try await names(0)
    #expect(outcome[2] == "attic" || outcome[2] == "cellar")
    if later != 0 { #expect(outcome[2] == (later > 0 ? "cellar" : "attic")) }
    for index in 1..<3 { #expect(try await names(index) == outcome) }
  }

  @Test("does not bring back who was removed meanwhile")
  func removed() async throws {
    try await group[0].members.remove("replica-2")
    group.clock.advance(1_000)
    try await group[1].members.rename("replica-2", to: "attic")
    group.clock.advance(1_000)
    try await group[2].members.rename("replica-2", to: "mine")
    try await group.send(from: 2, to: 1)
    try await group.send(from: 1, to: 0)
    try await group.send(from: 0, to: 1)
    for index in 0..<2 {
      let member = try await group[index].members.list().first { $0.identity == group[2].identity }
      #expect(member?.isActive == false && member?.name == "attic")
    }
  }

  @Test("is refused for a name that is taken or cannot be one, and for nobody")
  func refused() async throws {
    let before = try Forgery.bytes("\(group[0].path)/keyring").count
    for (name, new) in [
      ("replica-1", "replica-2"), ("replica-1", "a\nb"), ("replica-1", String(repeating: "x", count: 65)),
      ("nobody", "x"), ("replica-1", ""),
    ] {
      let error = await error { try await group[0].members.rename(name, to: new) }
      #expect(error?.code == .invalidArgument && error?.hint != nil, "\(name) to \(new)")
    }
    #expect(try await names(0) == ["replica-0", "replica-1", "replica-2"])
    #expect(try Forgery.bytes("\(group[0].path)/keyring").count == before)
  }

  @Test("that gives two members one name at once leaves them to be distinguished by their IDs")
  func twice() async throws {
    try await group[0].members.rename("replica-1", to: "attic")
    try await group[1].members.rename("replica-2", to: "attic")
    try await group.settle()
    let error = await error { try await group[0].members.remove("attic") }
    #expect(error?.code == .invalidArgument && error?.hint?.contains("ID") == true)
    try await group[0].members.rename("\(group[2].identity.replica)", to: "cellar")
    #expect(try await names(0) == ["replica-0", "attic", "cellar"])
  }
}
