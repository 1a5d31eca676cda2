import Foundation
import Godwit
import Testing

@testable import Godwit
@testable import GodwitEngine

/// Who has forgotten when rows were written shows what the others show.
@Suite("Rows of which it is forgotten when they were written")
struct ForgottenRowTests {
  @Test("of rows that claim a unique value one keeps a state, that which waits")
  func uniqueClaims() async throws {
    let group = try await ThingGroup(2)
    try await group.replicas[0].write { try $0.insert(Thing(id: "b", code: "x")) }
    group.clock.advance(-5_000)
    try await group.replicas[1].write { try $0.insert(Thing(id: "a", code: "x")) }
    for _ in 0..<3 { try await group.exchange() }
    for replica in group.replicas {
      try await replica.maintenance.compact()
      #expect(try await replica.fetch(Thing.all).map(\.id) == ["a"])
    }
    #expect(try await group.logCount(0) == 0)
    #expect(try await group.count("godwit_row", 0) == 1)
    group.clock.advance(10_000)
    try await group.replicas[1].write { _ = try $0.execute("UPDATE thing SET code = 'y' WHERE id = 'a'") }
    for _ in 0..<3 { try await group.exchange() }
    for (index, replica) in group.replicas.enumerated() {
      try await replica.maintenance.compact()
      #expect(try await replica.fetch(Thing.all).map(\.id).sorted() == ["a", "b"])
      #expect(try await group.count("godwit_row", index) == 0)
    }
  }

  @Test("a circle that begins when a row comes out of limbo is opened alike by who has forgotten its moves")
  func circleInLimbo() async throws {
    let group = try await ThingGroup(3)
    func write(_ replica: Int, _ sql: SQL) async throws {
      group.clock.advance(10)
      try await group.replicas[replica].write { _ = try $0.execute(sql) }
    }
    try await write(0, "INSERT INTO thing (id) VALUES ('a'), ('b')")
    try await group.exchange()
    try await write(0, "INSERT INTO thing (id, code) VALUES ('c', 'x')")
    try await write(1, "UPDATE thing SET code = 'x' WHERE id = 'a'")
    try await write(1, "UPDATE thing SET parent = 'a' WHERE id = 'b'")
    try await write(2, "UPDATE thing SET parent = 'b' WHERE id = 'a'")
    for _ in 0..<3 { try await group.exchange() }
    try await group.replicas[1].maintenance.compact()
    try await write(0, "DELETE FROM thing WHERE id = 'c'")
    for _ in 0..<2 { try await group.exchange() }
    for replica in group.replicas {
      #expect(
        try await replica.rows("SELECT id, parent FROM thing ORDER BY id").map(\.values) == [
          ["a", "b"], ["b", .null],
        ])
    }
  }

  @Test("a row that comes back into a circle opens it alike for who has forgotten it")
  func circle() async throws {
    let group = try await ThingGroup(3)
    let (first, second, third) = (group.replicas[0], group.replicas[1], group.replicas[2])
    try await first.write { try $0.insert([Thing(id: "a"), Thing(id: "b")]) }
    try await group.exchange()
    group.clock.advance(10)
    try await first.write { try $0.execute("UPDATE thing SET parent = 'a' WHERE id = 'b'") }
    group.clock.advance(10)
    try await second.write { try $0.execute("UPDATE thing SET parent = 'b' WHERE id = 'a'") }
    for _ in 0..<2 { try await group.exchange() }
    // One half of the circle is hidden. One takes the other half away, another edits it.
    for replica in group.replicas {
      #expect(try await replica.fetch(Thing.all).sorted { $0.id < $1.id }.map(\.parent) == ["b", nil])
    }
    try await third.write { try $0.execute("DELETE FROM thing WHERE id = 'a'") }
    try await third.write { try $0.insert(Thing(id: "c")) }
    try await group.send(2, 1)
    try await second.maintenance.compact()
    try await first.write { try $0.execute("UPDATE thing SET name = 'kept' WHERE id = 'a'") }
    for _ in 0..<2 { try await group.exchange() }
    for replica in group.replicas {
      #expect(try await replica.fetch(Thing.all).sorted { $0.id < $1.id }.map(\.parent) == ["b", nil, nil])
    }
    #expect(try await group.digests().count == 1)
  }

  @Test("who has forgotten when a value was claimed, and whose clock is slow, show the same row")
  func slowClock() async throws {
    let group = try await ThingGroup(1)
    let minute: Int64 = 60_000
    let slow = TestClock(1_700_000_000_000 - 90 * minute)
    let path = group.folder.file("slow")
    let invitation = group.folder.file("invitation")
    let first = group.replicas[0]
    try await first.members.invite(
      Replica.identity(at: path), name: "slow", verification: .trustOnFirstUse, to: .file(invitation))
    await (try Replica.join(at: path, invitation: .file(invitation), inviter: .trustOnFirstUse)).close()
    let second = try await ThingGroup.open(path, slow)
    func wait(_ minutes: Int64) { for clock in [group.clock, slow] { clock.advance(minutes * minute) } }
    func send(_ sender: Replica, _ receiver: Replica) async throws {
      let file = group.folder.file(UUID().uuidString)
      _ = try await sender.export(to: .file(file))
      _ = try await receiver.import(from: .file(file))
    }
    try await send(first, second)
    try await first.write { _ = try $0.execute("INSERT INTO thing (id, code) VALUES ('x', 'k')") }
    try await send(first, second)
    wait(40)
    try await send(second, first)
    try await first.maintenance.compact()
    wait(5)
    try await second.write { _ = try $0.delete(Thing.self, key: "x") }
    try await second.write { _ = try $0.execute("INSERT INTO thing (id, code) VALUES ('y', 'k')") }
    try await first.write { _ = try $0.execute("UPDATE thing SET name = 'n'") }
    for _ in 0..<2 {
      try await send(first, second)
      try await send(second, first)
    }
    #expect(try await first.maintenance.digest() == second.maintenance.digest())
  }

  @Test("who had not seen what rows have forgotten is fenced, also while the log still holds it")
  func fencedByRows() async throws {
    let group = try await ThingGroup(2)
    for number in 0..<6 { try await group.replicas[0].write { try $0.insert(Thing(id: "\(number)")) } }
    try await group.exchange()
    let backup = group.folder.file("backup")
    try FileManager.default.copyItem(atPath: group.folder.file("replica-1"), toPath: backup)
    group.clock.advance(10)
    try await group.replicas[0].write { _ = try $0.execute("UPDATE thing SET name = 'later' WHERE id = '5'") }
    try await group.send(0, 1)
    try await group.send(1, 0)
    _ = try await group.replicas[0].forget(portion: Forgetting.Portion(transactions: 2))
    #expect(try await group.logCount(0) > 1)
    #expect(try await group.count("godwit_row", 0) == 0)

    group.clock.advance(10)
    let restored = try await ThingGroup.open(backup, group.clock)
    try await restored.write { _ = try $0.delete(Thing.self, key: "5") }
    let file = group.folder.file("restored")
    _ = try await restored.export(to: .file(file))
    #expect(try await group.replicas[0].import(from: .file(file)).attention.leftOut.map(\.reason) == [.fenced])
    #expect(try await group.replicas[0].fetch(Thing.self, key: "5")?.name == "later")
  }
}
