import Foundation
import Godwit
import GodwitBase
import Testing

@Suite("The log and what is missing in it")
struct LogTests {
  @Test("is searched by table, replica and time, newest first")
  func search() async throws {
    let group = try await MergeGroup()
    for number in 1...3 { try await group.write(0, "INSERT INTO page (id) VALUES (\("p\(number)"))") }
    let between = group.clock.wallClock.milliseconds() + 5
    try await group.write(1, "INSERT INTO shelf (id) VALUES ('s')")
    try await group.write(0, "INSERT INTO shelf (id) VALUES ('t')")
    try await group.exchange()
    let replica = group[1]
    let (first, second) = (group[0].identity.replica, group[1].identity.replica)
    #expect(try await replica.history.log().map(\.sequence) == [4, 1, 3, 2, 1])
    #expect(try await replica.history.log(limit: 2).map(\.replica) == [first, second])
    #expect(try await replica.history.log(table: "Shelf").map(\.replica) == [first, second])
    #expect(try await replica.history.log(limit: 1, table: "page").map(\.sequence) == [3])
    #expect(try await replica.history.log(replica: second).map(\.sequence) == [1])
    #expect(try await replica.history.log(since: Date(milliseconds: between)).count == 2)
    #expect(try await replica.history.log(limit: 0).isEmpty)
  }

  @Test("a transaction shows its operations with their values, and what its author had seen")
  func transaction() async throws {
    let group = try await MergeGroup()
    try await group.write(0, "INSERT INTO page (id, title) VALUES ('a', 'x')")
    try await group.exchange()
    try await group.write(
      1, "UPDATE page SET views = views + 3, title = 'y'", "INSERT INTO shelf (id, name) VALUES ('s', 'n')")
    try await group.write(1, "UPDATE shelf SET id = 't'", "DELETE FROM page")
    try await group.exchange()
    let own = group[1].identity.replica
    let first = try await group[0].history.transaction(1, of: own)
    #expect(first.operations.map(\.kind) == [.update, .insert] && first.operations.map(\.key) == [["a"], ["s"]])
    #expect(first.operations[0].cells.map(\.column) == ["title", "views"])
    #expect(
      first.operations[0].cells.map(\.value) == ["y", 3]
        && first.operations[0].cells.map(\.isRelative) == [false, true])
    #expect(first.operations[1].cells.map(\.value) == ["n"])
    #expect(first.seen.map(\.sequence) == [1] && first.entry.replica == own)
    let second = try await group[0].history.transaction(2, of: own, incarnation: first.entry.incarnation)
    #expect(second.operations.map(\.kind) == [.delete, .insert, .delete])
    #expect(second.operations.map(\.key) == [["s"], ["t"], ["a"]])
    #expect(second.entry.changes.map(\.inserted) == [1, 0] && second.entry.changes.map(\.deleted) == [1, 1])
    #expect(await code { try await group[0].history.transaction(3, of: own) } == .notFound)
    #expect(await code { try await group[0].history.transaction(0, of: own) } == .notFound)
    let other = try #require(Incarnation.ID("0000000A"))
    #expect(await code { try await group[0].history.transaction(1, of: own, incarnation: other) } == .notFound)
    #expect(
      "\(other)" == "0000000a"
        && ["", "a", "+000000a", "0000000g", "０0000000"].allSatisfy { Incarnation.ID($0) == nil })
  }

  @Test("what waits is listed with what it waits for and who may have that; where nothing waits, nothing is listed")
  func missing() async throws {
    let group = try await TestGroup(3)
    #expect(try await group[2].history.missing().missing.isEmpty)
    func write(_ title: String, to index: Int) async throws {
      var note = Note()
      note.title = title
      let made = note
      try await group[index].write { try $0.insert(made) }
    }
    try await group.settle()
    try await write("cause", to: 0)
    try await group.send(from: 0, to: 1)
    try await write("effect", to: 1)
    // Says to 1 that 2 has it, so that the file leaves it out.
    let (zero, one) = (group[0].identity.replica, group[1].identity.replica)
    let all = group.folder.file("all"), later = group.folder.file("later")
    _ = try await group[1].export(to: .file(all), includesAll: true)
    let restored = group.folder.file("restored")
    try FileManager.default.copyItem(atPath: group.folder.file("replica-2"), toPath: restored)
    _ = try await group[2].import(from: .file(all))
    try await group.send(from: 2, to: 1)
    try await group.send(from: 2, to: 0)
    try await group.send(from: 0, to: 1)
    try await write("late", to: 1)
    _ = try await group[1].export(to: .file(later))
    let late = try await TestGroup.open(restored, group.clock)
    _ = try await late.import(from: .file(later))
    let report = try await late.history.missing()
    #expect(report.waiting.map(\.transactions) == [1] && report.waiting.first?.replica == one)
    let cause = try #require(report.missing.first { $0.replica == zero })
    #expect(cause.sequences == 1...1)
    #expect(Set(cause.holders) == [zero, one])
    await late.close()
  }
}
