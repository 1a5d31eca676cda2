import Foundation
import GodwitBase
import GodwitCore
import Testing

@testable import Godwit
@testable import GodwitEngine

extension TableSyncTests {
  @Test("a unique value that passed from row to row while the table was stopped is no conflict")
  func passesUniqueValues() async throws {
    let (first, second) = try await parted("a", "b", "c")
    try await second.write { tx in
      try tx.execute("DELETE FROM place WHERE id = 'a'")
      try tx.execute("INSERT INTO place VALUES ('new', 'mine', 'a', 0)")
      try tx.execute("UPDATE place SET code = 'q' WHERE id = 'c'")
      try tx.execute("UPDATE place SET code = 'c' WHERE id = 'b'")
      try tx.execute("INSERT INTO place VALUES ('other', 'mine', 'b', 0)")
    }
    let expected = try await rows(second)
    try await second.tables.startSync(of: "place")
    #expect(try await rows(second) == expected)
    #expect(try await second.conflicts.list().isEmpty)
    #expect(try await together(first, second) == expected)
  }

  @Test("a row that was deleted while the table was stopped, and waits when it starts, is a conflict")
  func deletesWaiting() async throws {
    let (first, second) = try await pair([SyncedPlace.self])
    try await second.write { try $0.insert(SyncedPlace(id: "m", name: "mine", code: "q", visits: 0)) }
    try await second.tables.stopSync(of: "place")
    try await second.write { try $0.execute("DELETE FROM place WHERE id = 'm'") }
    try await first.write { try $0.insert(SyncedPlace(id: "k", name: "theirs", code: "q", visits: 0)) }
    try await carry(first, second)
    try await second.tables.startSync(of: "place")
    #expect(try await rows(second) == [["k", "theirs", "q", 0]])
    let deletes = try await second.conflicts.list().filter { $0.kind == .delete }
    #expect(deletes.map(\.key) == [["m"]])
  }

  @Test("what is written after a start is later than what a clock far ahead wrote before the stop")
  func followsTimes() async throws {
    let (ahead, second) = try await pair([SyncedPlace.self])
    await ahead.close()
    let late = TestClock(clock.wallClock.milliseconds() + 7_200_000)
    let first = try await Replica.open(
      at: folder.file("replica-0"), models: [SyncedPlace.self],
      configuration: .init(key: .keyring(), logger: .init(label: "test")), wallClock: late.wallClock)
    try await first.write { try $0.insert(SyncedPlace(id: "a", name: "future", code: "a", visits: 0)) }
    try await carry(first, second)
    try await second.tables.stopSync(of: "place")
    try await second.tables.startSync(of: "place")
    try await second.write { try $0.execute("UPDATE place SET name = 'later' WHERE id = 'a'") }
    #expect(try await together(first, second) == [["a", "later", "a", 0]])
  }

  @Test("elements of a set that look alike and are of other bytes all stay when a table starts again")
  func setElements() async throws {
    let (first, second) = try await pair([TaggedPlace.self])
    let (composed, decomposed) = ("\"caf\u{E9}\"", "\"cafe\u{301}\"")
    let both = try #require(SetElements.value(of: [composed, decomposed]).text)
    try await first.write { try $0.execute("INSERT INTO tagged VALUES ('a', \(both))") }
    try await carry(first, second)
    try await carry(second, first)
    try await second.tables.stopSync(of: "tagged")
    let more = try #require(SetElements.value(of: [composed, decomposed, "\"more\""]).text)
    try await second.write { try $0.execute("UPDATE tagged SET tags = \(more)") }
    try await second.tables.startSync(of: "tagged")
    clock.advance(1)
    try await carry(second, first)
    for replica in [first, second] {
      #expect(try await replica.rows("SELECT tags FROM tagged").map(\.values) == [[.text(more)]])
    }
    #expect(try await first.maintenance.digest() == second.maintenance.digest())
  }
}

struct TaggedPlace: Model {
  static let schema = Schema<Self>("tagged") { Column("tags", \.tags, merge: .addWinsSet) }
  var id = ""
  var tags: Set<String> = []
}

extension Value {
  fileprivate var text: String? { if case .text(let text) = self { text } else { nil } }
}
