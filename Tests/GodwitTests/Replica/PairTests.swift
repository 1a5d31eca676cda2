import Foundation
import Godwit
import Testing

@Suite("A pair of replicas for tests")
struct PairTests {
  private struct Entry: Model {
    static let schema = Schema<Self>("entry") { Column("text", \.text) }
    var id = RecordID<Entry>()
    var text = ""
  }

  @Test("holds the same after an exchange, and names the members first and second")
  func exchange() async throws {
    let pair = try await Replica.pair(models: Entry.self)
    let (here, there) = (Entry(text: "here"), Entry(text: "there"))
    try await pair.first.write { try $0.insert(here) }
    try await pair.second.write { try $0.insert(there) }
    let reports = try await pair.exchange()
    #expect(reports.second.applied.transactions == 1 && reports.first.applied.transactions == 1)
    for replica in [pair.first, pair.second] {
      #expect(Set(try await replica.fetch(Entry.all).map(\.text)) == ["here", "there"])
      #expect(try await replica.members.list().map(\.name).sorted() == ["first", "second"])
    }
    #expect(try await pair.first.maintenance.digest() == pair.second.maintenance.digest())
    await pair.close()
  }

  @Test("shows a conflict and where a value comes from by model and key")
  func typedRooms() async throws {
    let pair = try await Replica.pair(models: Entry.self)
    let entry = Entry(text: "none")
    try await pair.first.write { try $0.insert(entry) }
    try await pair.exchange()
    for (replica, text) in [(pair.first, "lost"), (pair.second, "won")] {
      try await Task.sleep(for: .milliseconds(2))
      try await replica.write { try $0.update(Entry(id: entry.id, text: text)) }
    }
    try await pair.exchange()
    let conflicts = try await pair.first.conflicts.list(of: Entry.self, key: entry.id)
    #expect(conflicts.map(\.losingValue) == ["lost"] && conflicts.first?.winner?.time != nil)
    #expect(try await pair.first.conflicts.list(of: Entry.self, key: RecordID<Entry>()).isEmpty)
    let explanation = try await pair.first.history.explain(Entry.self, entry.id, property: \.text)
    #expect(explanation.cells.map(\.value) == ["won"])
    await pair.close()
  }

  @Test("runs the migrations of its configuration on both sides")
  func migrations() async throws {
    let migrations = Migrations {
      Migration(1, "entries") { $0.create(Entry.self) }
    }
    let pair = try await Replica.pair(models: Entry.self, configuration: .init(migrations: migrations))
    try await pair.first.write { try $0.insert(Entry(text: "one")) }
    try await pair.exchange()
    #expect(try await pair.second.count(Entry.all) == 1)
    #expect(try await pair.second.status().schemaVersion == 1)
    await pair.close()
  }

  @Test("leaves no folder when it is closed, nor when it cannot be opened")
  func leavesNothing() async throws {
    let folder = try TemporaryFolder()
    let pair = try await Replica.pair(models: Entry.self, in: folder.path)
    await pair.close()
    await #expect(throws: GodwitError.self) {
      try await Replica.pair(models: Entry.self, in: folder.path, configuration: .init(isReadOnly: true))
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
  }
}
