import Foundation
import GodwitBase
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
}
