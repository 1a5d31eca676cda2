import Foundation
import Godwit
import Testing

@Suite("Writing a model")
struct WritingTests {
  private let group: TestGroup
  init() async throws { group = try await TestGroup(2) }

  @Test("update writes only the columns that differ, so that another replica's edit of another stays")
  func changedColumnsOnly() async throws {
    let note = Note(title: "first", views: 1)
    try await group[0].write { try $0.insert(note) }
    try await group.send(from: 0, to: 1)
    let (theirs, ours) = (Note(id: note.id, title: "theirs", views: 1), Note(id: note.id, title: "first", views: 2))
    #expect(try await group[1].write { try $0.update(theirs) })
    group.clock.advance(5)
    #expect(try await group[0].write { try $0.update(ours) })
    let report = try await group.send(from: 1, to: 0)
    try await group.send(from: 0, to: 1)
    #expect(report.attention.conflicts == 0)
    for replica in group.replicas {
      let merged = try #require(try await replica.fetch(Note.self, key: note.id))
      #expect(merged.title == "theirs" && merged.views == 2)
    }
  }

  @Test("update of nothing writes nothing")
  func unchanged() async throws {
    let note = Note(title: "same")
    try await group[0].write { try $0.insert(note) }
    #expect(try await group[0].write { try $0.update(note) } == false)
    #expect(try await group[0].write { try $0.save(note) }.title == "same")
    #expect(try await group[0].history.log().count == 1)
  }

  @Test("update of a row that is not there is notFound, and delete says so")
  func notFound() async throws {
    #expect(await code { try await group[0].write { try $0.update(Note()) } } == .notFound)
    #expect(try await group[0].write { try $0.delete(Note()) } == false)
    #expect(try await group[0].history.log().isEmpty)
  }

  @Test("save inserts what is new and updates what is there")
  func save() async throws {
    let note = Note(title: "one")
    let later = Note(id: note.id, title: "two")
    #expect(try await group[0].write { try $0.save(note) }.title == "one")
    #expect(try await group[0].write { try $0.save(later) }.title == "two")
    #expect(try await group[0].fetch(Note.all).map(\.title) == ["two"])
  }

  @Test("insert of a key that is taken is a constraint")
  func taken() async throws {
    let note = Note(title: "one")
    try await group[0].write { try $0.insert(note) }
    #expect(await code { try await group[0].write { try $0.insert(Note(id: note.id, title: "two")) } } == .constraint)
    #expect(try await group[0].fetch(Note.all).map(\.title) == ["one"])
  }

  @Test("a transaction reads what it has written")
  func readsOwnWrites() async throws {
    let counts = try await group[0].write { transaction in
      try (0..<100).map { number in
        try transaction.insert(Note(views: number))
        return try transaction.count(Note.where { $0.views >= 0 })
      }
    }
    #expect(counts == Array(1...100))
  }

  @Test("a cancelled transaction leaves nothing, and the next takes its number")
  func cancelled() async throws {
    let replica = group[0]
    try await replica.write { try $0.insert(Note()) }
    let (started, arrival) = AsyncStream.makeStream(of: Void.self)
    let task = Task {
      try await replica.write { transaction in
        try transaction.insert(Note(title: "cancelled"))
        arrival.yield()
        _ = try transaction.rows(
          "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n")
      }
    }
    for await _ in started { break }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    try await replica.write { try $0.insert(Note()) }
    #expect(try await replica.history.log().map(\.sequence) == [2, 1])
    #expect(try await replica.maintenance.verify().problems == [])
  }
}
