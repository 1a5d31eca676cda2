import Foundation
import Godwit
import Testing

@Suite("Two replicas")
struct TwoReplicaTests {
  @Test("hold the same after files have gone both ways")
  func converge() async throws {
    let group = try await TestGroup(2)
    var note = Note()
    note.title = "Buy milk"
    let milk = note
    try await group[0].write { try $0.insert(milk) }
    let first = try await group.send(from: 0, to: 1)
    #expect(first.applied.transactions == 1 && first.applied.duplicates == 0 && first.attention.isEmpty)
    #expect(try await group[1].fetch(Note.self, key: milk.id)?.title == "Buy milk")

    var edited = milk
    edited.views = 7
    let viewed = edited
    try await group[1].write { _ = try $0.update(viewed) }
    try await group.send(from: 1, to: 0)
    #expect(try await group[0].fetch(Note.self, key: milk.id)?.views == 7)
    #expect(try await group.digests().count == 1)
  }

  @Test("the later edit of a cell wins on both, and the loser is in the conflict log")
  func cellConflict() async throws {
    let group = try await TestGroup(2)
    let note = Note()
    try await group[0].write { try $0.insert(note) }
    try await group.send(from: 0, to: 1)
    group.clock.advance(10)
    try await group[0].write { _ = try $0.execute("UPDATE note SET title = 'early', views = 1") }
    group.clock.advance(10)
    try await group[1].write { _ = try $0.execute("UPDATE note SET title = 'late'") }
    let there = try await group.send(from: 0, to: 1)
    let back = try await group.send(from: 1, to: 0)
    #expect(there.attention.conflicts == 1 && back.attention.conflicts == 1)
    #expect(try await group.digests().count == 1)
    for replica in group.replicas {
      let merged = try #require(try await replica.fetch(Note.self, key: note.id))
      #expect(merged.title == "late" && merged.views == 1)
      let conflict = try #require(try await replica.conflicts.list().first)
      #expect(conflict.column == "title" && conflict.losingValue == "early")
    }
  }

  @Test("a delete and an unseen edit: the row lives with the edit and every other column")
  func deleteAgainstEdit() async throws {
    let group = try await TestGroup(2)
    var note = Note()
    note.title = "kept"
    note.views = 3
    let stored = note
    try await group[0].write { try $0.insert(stored) }
    try await group.send(from: 0, to: 1)
    group.clock.advance(1)
    try await group[0].write { _ = try $0.delete(stored) }
    group.clock.advance(1)
    try await group[1].write { _ = try $0.execute("UPDATE note SET body = 'edited'") }
    try await group.send(from: 0, to: 1)
    try await group.send(from: 1, to: 0)
    for replica in group.replicas {
      let merged = try #require(try await replica.fetch(Note.self, key: stored.id))
      #expect(merged.title == "kept" && merged.views == 3 && merged.body == "edited")
      #expect(try await replica.conflicts.list().first?.column == nil)
    }
    #expect(try await group.digests().count == 1)
  }

  @Test("a delete that saw the edit removes the row on both")
  func deleteAfterEdit() async throws {
    let group = try await TestGroup(2)
    let note = Note()
    try await group[0].write { try $0.insert(note) }
    try await group.send(from: 0, to: 1)
    try await group[1].write { _ = try $0.execute("UPDATE note SET body = 'edited'") }
    try await group.send(from: 1, to: 0)
    try await group[0].write { _ = try $0.delete(note) }
    let report = try await group.send(from: 0, to: 1)
    #expect(report.attention.conflicts == 0)
    for replica in group.replicas { #expect(try await replica.count(Note.all) == 0) }
  }

  @Test("the same file twice changes nothing the second time")
  func duplicate() async throws {
    let group = try await TestGroup(2)
    try await group[0].write { try $0.insert(Note()) }
    try await group.send(from: 0, to: 1, all: true)
    let digest = try await group[1].maintenance.digest()
    let second = try await group.send(from: 0, to: 1, all: true)
    #expect(second.applied.transactions == 0 && second.applied.duplicates == 1)
    #expect(try await group[1].maintenance.digest() == digest)
  }

  @Test("rows of a local model stay here")
  func localModel() async throws {
    let group = try await TestGroup(2)
    try await group[0].write { try $0.insert(Draft()) }
    let report = try await group.send(from: 0, to: 1)
    #expect(report.applied.transactions == 0)
    #expect(try await group[1].count(Draft.all) == 0)
  }
}
