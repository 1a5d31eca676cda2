import Godwit
import GodwitBase
import Testing

@Suite("A state file of another version", .timeLimit(.minutes(1)))
struct StateVersionTests {
  /// Version 2 changes values and no column's name.
  @Migrations.Builder private static func words() -> [Migration] {
    Migration(1, "words") {
      $0.create("word") {
        $0.column("id", Int.self)
        $0.column("text", String.self, default: "")
      }
    }
    Migration(2, "lower") { $0.alter("word") { $0.change("text", String.self, default: "", by: "lower(text)") } }
  }

  @Test(
    "is refused where a barrier lies between, though the tables have the same columns; seed 350004681",
    arguments: [(1, 2), (2, 1)])
  func barrier(sender: Int, receiver: Int) async throws {
    let group = try await MigrationGroup([1, 1], Self.words)
    try await group.write(0, "INSERT INTO word VALUES (1, 'One')")
    try await group.exchange()
    try await group[0].members.remove("replica-1")
    try await group.write(1, "UPDATE word SET text = 'Mine'")
    try await group.update(0, to: sender)
    try await group.update(1, to: receiver)
    try await group.write(0, "INSERT INTO word VALUES (2, 'Two')")
    try await group[0].maintenance.compact()
    let file = try await group.readmit(1)
    let failure = await error { try await group[1].rejoin(from: .file(file)) }
    #expect(failure?.code == .needsMigration)
    #expect(failure?.message.contains("the barrier 2 \"lower\"") == true && failure?.hint != nil)
    #expect(try await group.rows(1, "SELECT id, text FROM word") == [[1, receiver == 1 ? "Mine" : "mine"]])

    try await group.update(sender < receiver ? 0 : 1, to: 2)
    _ = try await group[0].exportState(to: .file(file), for: "replica-1")
    #expect(try await group[1].rejoin(from: .file(file)).applied.state != nil)
    for _ in 0..<2 { try await group.exchange() }
    try await group.expectSame()
  }

  @Test("lists the delete of a row that waits in it")
  func deletedInLimbo() async throws {
    let group = try await MigrationGroup([1, 1]) {
      Migration(1, "names") {
        $0.create("name") {
          $0.column("id", Int.self)
          $0.column("text", String.self)
          $0.index("text", unique: true)
        }
      }
    }
    try await group.exchange()
    try await group.write(0, "INSERT INTO name VALUES (1, 'same')")
    try await group.write(1, "INSERT INTO name VALUES (2, 'same')")
    try await group.send(1, to: 0)
    try await group[0].members.remove("replica-1")
    try await group.write(1, "DELETE FROM name WHERE id = 2")
    let file = try await group.readmit(1)
    #expect(try await group[1].rejoin(from: .file(file)).applied.state != nil)
    #expect(try await group[1].history.limbo().map(\.key) == [[2]])
    #expect(try await group[1].conflicts.list().contains { $0.kind == .delete && $0.key == [2] })
  }

  @Test("keeps what was counted in a row that is gone, and whose count has no default; seed 750003136")
  func counted() async throws {
    let group = try await MigrationGroup([1, 1]) {
      Migration(1, "visits") {
        $0.create("visit") {
          $0.column("id", Int.self)
          $0.column("times", Int.self, merge: .counter)
        }
      }
    }
    try await group.write(0, "INSERT INTO visit VALUES (1, 5)")
    try await group.exchange()
    try await group[0].members.remove("replica-1")
    try await group.write(0, "DELETE FROM visit")
    try await group.write(1, "UPDATE visit SET times = times + 2")
    try await group[0].maintenance.compact()
    let file = try await group.readmit(1)
    #expect(try await group[1].rejoin(from: .file(file)).applied.state != nil)
    #expect(try await group.rows(1, "SELECT times FROM visit") == [])
    let kept = try await group[1].conflicts.list().first { $0.columns == ["times"] }
    #expect(kept?.losingValues == [2])
  }
}
