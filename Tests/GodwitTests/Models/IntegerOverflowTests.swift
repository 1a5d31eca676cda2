import Foundation
import Godwit
import Testing

@Suite("Integers beyond their range")
struct IntegerOverflowTests {
  private func replica() async throws -> Replica {
    try await Replica.inMemory(models: Tally.self, LocalTally.self)
  }

  @Test("a sum beyond 64 bits is refused, names the row, and leaves all rows as they were")
  func sum() async throws {
    let replica = try await replica()
    try await replica.write { tx in
      try tx.insert(Tally(id: "a", num: 1))
      try tx.insert(Tally(id: "b", num: .max))
      try tx.insert(LocalTally(id: "b", num: .max))
    }
    let refusal = await error { try await replica.write { try $0.update(Tally.all) { $0.num += 1 } } }
    #expect(refusal?.code == .valueNotStorable)
    #expect(refusal?.message == "column num of the row 'b' of table tally would be beyond what its integers can be")
    let local = await error { try await replica.write { try $0.update(LocalTally.all) { $0.num += 1 } } }
    #expect(local?.message.contains("row 'b' of table local_tally") == true)
    #expect(try await replica.fetch(Tally.order(by: \.id)).map(\.num) == [1, .max])
    #expect(try await replica.write { try $0.update(Tally.where { $0.id == "a" }) { $0.num += 1 } } == 1)
    await replica.close()
  }

  @Test("a narrower integer is held to its own range, and nil stays nil")
  func narrow() async throws {
    let replica = try await replica()
    try await replica.write { try $0.insert(Tally(id: "a", small: 120)) }
    #expect(await code { try await replica.write { try $0.update(Tally.all) { $0.small += 8 } } } == .valueNotStorable)
    #expect(await code { try await replica.write { try $0.update(Tally.all) { $0.small *= -2 } } } == .valueNotStorable)
    try await replica.write { try $0.update(Tally.all) { $0.small += 7 } }
    #expect(try await replica.fetch(Tally.all).map(\.small) == [127])
    await replica.close()
  }

  @Test("SQL of the program's own cannot leave such a sum in a synced table either")
  func ownSQL() async throws {
    let replica = try await replica()
    try await replica.write { try $0.insert(Tally(id: "b", num: .max)) }
    let refusal = await error { try await replica.write { try $0.execute("UPDATE tally SET num = num + 1") } }
    #expect(refusal?.code == .valueNotStorable)
    #expect(refusal?.message.contains("row 'b' of table tally") == true)
    #expect(try await replica.fetch(Tally.all).map(\.num) == [.max])
    await replica.close()
  }

  @Test("a counter's difference beyond 64 bits is refused")
  func difference() async throws {
    let replica = try await replica()
    try await replica.write { try $0.insert(Tally(id: "a", count: -2)) }
    let refusal = await error { try await replica.write { try $0.execute("UPDATE tally SET count = \(Int.max)") } }
    #expect(refusal?.code == .valueNotStorable)
    #expect(refusal?.message.contains("column count of the row 'a' of table tally") == true)
    #expect(try await replica.fetch(Tally.all).map(\.count) == [-2])
    await replica.close()
  }

  @Test("a document's counter is not added to beyond 64 bits")
  func documents() async throws {
    let replica = try await replica()
    let pages = replica.documents("pages", members: [.counter("views")])
    try await pages.add(Int.max, to: "views", of: "k")
    let refusal = await error { try await pages.add(1, to: "views", of: "k") }
    #expect(refusal?.code == .valueNotStorable)
    #expect(refusal?.message.contains("'k'") == true)
    #expect(try await pages.get("k")?["views"] == .integer(.max))
    await replica.close()
  }

  @Test("counters whose merged sum is beyond 64 bits come to the same on every replica, in any order")
  func merged() async throws {
    let group = try await MergeGroup(3, models: [Tally.self])
    try await group.write(0, "INSERT INTO tally (id, count) VALUES ('a', 0)")
    try await group.exchange()
    for replica in 0..<3 { try await group.write(replica, "UPDATE tally SET count = 9223372036854775807") }
    try await group.exchange()
    #expect(try await group.rows("SELECT count FROM tally") == [[.integer(.max &* 3)]])
  }
}

private struct Tally: Model {
  static let schema = Schema<Self>("tally") {
    Column("num", \.num)
    Column("small", \.small)
    Column("maybe", \.maybe)
    Column("count", \.count, merge: .counter)
  }
  var id = ""
  var num = 0
  var small: Int8 = 0
  var maybe: Int?
  var count = 0
}

private struct LocalTally: Model {
  static let schema = Schema<Self>("local_tally", sync: .local) { Column("num", \.num) }
  var id = ""
  var num = 0
}
