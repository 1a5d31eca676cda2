import Foundation
import Godwit
import Testing

private struct Event: Model {
  static let schema = Schema<Self>("event", sync: .local, autoIncrement: true) { Column("name", \.name).unique() }
  var id: Int64 = 0
  var name = ""
}
private struct SyncedEvent: Model {
  static let schema = Schema<Self>("synced_event", autoIncrement: true) { Column("name", \.name) }
  var id = 0
  var name = ""
}
private struct TextEvent: Model {
  static let schema = Schema<Self>("text_event", sync: .local, autoIncrement: true) { Column("name", \.name) }
  var id = ""
  var name = ""
}

@Suite("A model whose rows the database numbers")
struct AutoIncrementTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  private func open(_ model: any Model.Type) async throws -> Replica {
    try await ReplicaPair.open(folder.file("replica"), [model], TestClock())
  }

  @Test("gets its number from insert and save")
  func numbers() async throws {
    let replica = try await open(Event.self)
    let ids = try await replica.write { transaction in
      let first = try transaction.insert(Event(name: "a"))
      let second = try transaction.save(Event(name: "b"))
      let more = try transaction.insert((0..<100).map { Event(name: "more \($0)") })
      let own = try transaction.insert(Event(id: 500, name: "own"))
      let next = try transaction.insert(Event(name: "next"))
      return [first.id, second.id, more[99].id, own.id, next.id]
    }
    #expect(ids == [1, 2, 102, 500, 501])
    #expect(try await replica.fetch(Event.self, key: 2)?.name == "b")
    #expect(try await replica.history.log().isEmpty)
  }

  @Test("never gets a number twice")
  func neverReused() async throws {
    let replica = try await open(Event.self)
    try await replica.write { transaction in
      let last = try transaction.insert([Event(name: "a"), Event(name: "b")])[1]
      try #expect(transaction.delete(last))
      try #expect(transaction.insert(Event(name: "c")).id == 3)
    }
  }

  @Test("keeps 0 and inserts nothing when a constraint refuses it")
  func refused() async throws {
    let replica = try await open(Event.self)
    try await replica.write { transaction in
      try transaction.insert(Event(name: "a"))
      #expect(throws: GodwitError.self) { try transaction.insert(Event(name: "a")) }
      #expect(throws: GodwitError.self) { try transaction.update(Event(name: "never inserted")) }
    }
    #expect(try await replica.count(Event.all) == 1)
  }

  @Test("updates by its number, and returns what was saved")
  func update() async throws {
    let replica = try await open(Event.self)
    let stored = try await replica.write { transaction in
      var event = try transaction.insert(Event(name: "a"))
      event.name = "b"
      return try transaction.save(event)
    }
    #expect(stored.id == 1 && stored.name == "b")
    #expect(try await replica.fetch(Event.all).map(\.name) == ["b"])
  }

  @Test("is invalid when its rows are synced, or its key is no integer")
  func invalid() async throws {
    let synced = await error { try await open(SyncedEvent.self) }
    #expect(synced?.code == .invalidSchema)
    #expect(
      synced?.message
        == "table synced_event numbers its rows and cannot be synced: two replicas would give the same number")
    #expect(synced?.hint == "declare it with sync: .local, or give its model a RecordID")
    let text = await error { try await open(TextEvent.self) }
    #expect(text?.message == "table text_event numbers its rows, but its key is not one integer")
  }
}
