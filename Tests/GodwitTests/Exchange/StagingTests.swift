import Foundation
import Godwit
import Testing

@Suite("Files out of order")
struct StagingTests {
  private func write(_ title: String, to replica: Replica) async throws {
    var note = Note()
    note.title = title
    let made = note
    try await replica.write { try $0.insert(made) }
  }

  private func export(_ group: TestGroup, _ index: Int, _ name: String) async throws -> SyncSource {
    let path = group.folder.file(name)
    _ = try await group[index].export(to: .file(path))
    return .file(path)
  }

  /// What the replica was before later imports, as a backup that is restored beside it.
  private func backup(_ group: TestGroup, _ index: Int) throws -> String {
    let path = group.folder.file("backup-\(index)")
    try FileManager.default.copyItem(atPath: group.folder.file("replica-\(index)"), toPath: path)
    return path
  }

  @Test("a missing file is reported, later ones wait, and its arrival completes them")
  func gap() async throws {
    let group = try await TestGroup(2)
    try await write("one", to: group[0])
    try await group.send(from: 0, to: 1)
    let restored = try backup(group, 1)
    try await write("two", to: group[0])
    let second = try await export(group, 0, "2.sync")
    _ = try await group[1].import(from: second)
    try await group.send(from: 1, to: 0)  // says that "two" has arrived
    try await write("three", to: group[0])
    let third = try await export(group, 0, "3.sync")

    let late = try await TestGroup.open(restored, group.clock)
    let early = try await late.import(from: third)
    #expect(early.applied.transactions == 0 && early.waiting.transactions == 1)
    #expect(early.waiting.missing.map(\.replica) == [group[0].identity.replica])
    #expect(early.waiting.missing.map(\.sequences) == [2...2])
    #expect(try await late.status().missing == early.waiting.missing)
    #expect(try await late.fetch(Note.all).map(\.title) == ["one"])

    let completing = try await late.import(from: second)
    #expect(
      completing.applied.transactions == 2 && completing.waiting.transactions == 0 && completing.waiting.missing.isEmpty
    )
    #expect(try await late.maintenance.digest() == group[0].maintenance.digest())
  }

  @Test("an edit that comes by relay before its insert waits for it; no row is invented")
  func relayBeforeCause() async throws {
    let group = try await TestGroup(3)
    try await group.settle()
    let restored = try backup(group, 2)
    try await write("from 0", to: group[0])
    let insert = try await export(group, 0, "insert.sync")
    for index in 1...2 { _ = try await group[index].import(from: insert) }
    try await group.send(from: 2, to: 1)  // says that the insert has arrived
    try await group[1].write { _ = try $0.execute("UPDATE note SET views = 5") }
    let editFile = group.folder.file("edit.sync")
    _ = try await group[1].export(to: .file(editFile), for: "replica-2")

    let late = try await TestGroup.open(restored, group.clock)
    let early = try await late.import(from: .file(editFile))
    #expect(early.applied.transactions == 0 && early.waiting.transactions == 1)
    #expect(early.waiting.missing.map(\.replica) == [group[0].identity.replica])
    #expect(early.waiting.missing.map(\.sequences) == [1...1])
    #expect(try await late.count(Note.all) == 0)
    let completing = try await late.import(from: insert)
    #expect(completing.applied.transactions == 2 && completing.waiting.missing.isEmpty)
    #expect(try await late.fetch(Note.all).map(\.views) == [5])
  }

  @Test("a circle of one direction falls quiet and forgets", arguments: [3, 5])
  func quiet(_ count: Int) async throws {
    let group = try await TestGroup(count)
    for index in 0..<count { try await write("from \(index)", to: group[index]) }
    func round() async throws -> [(sent: Int, applied: Int)] {
      var reports: [(sent: Int, applied: Int)] = []
      for sender in 0..<count {
        let path = group.folder.file("quiet-\(sender).sync")
        let report = try await group[sender].export(to: .file(path))
        reports.append(
          (report.transactions, try await group[(sender + 1) % count].import(from: .file(path)).applied.transactions))
      }
      return reports
    }
    #expect(try await round().contains { $0.applied > 0 })
    _ = try await round()
    _ = try await round()
    #expect(try await group.digests().count == 1)
    #expect(try await round().allSatisfy { $0.sent == 0 && $0.applied == 0 })
    for index in 0..<count {
      try await group[index].maintenance.compact()
      #expect(try await group[index].history.log().isEmpty)
    }
    // What comes after that goes round as well.
    try await write("later", to: group[count - 1])
    for _ in 0..<2 { _ = try await round() }
    #expect(try await group.digests().count == 1)
    _ = try await round()
    #expect(try await round().allSatisfy { $0.sent == 0 && $0.applied == 0 })
  }
}
