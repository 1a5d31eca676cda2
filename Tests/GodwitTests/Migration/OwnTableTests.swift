import Foundation
import Godwit
import Testing

@Suite("What the program itself made beside migrated tables")
struct OwnTableTests {
  @Migrations.Builder private static func notes() -> [Migration] {
    Migration(1, "notes") {
      $0.create("note") {
        $0.column("id", Int.self)
        $0.column("title", String.self, default: "")
      }
    }
    Migration.addition(2, "stars") { $0.alter("note") { $0.add("stars", Int.self, default: 3) } }
  }

  private func run(_ step: Migration, on group: MigrationGroup) async -> GodwitError? {
    await error { try await group[0].migrations.run(Migrations(group.migrations + [step])) }
  }

  private static let rename = Migration(3, "names") { $0.alter("note") { $0.rename("title", to: "name") } }

  @Test(
    "a trigger or an index that names what is renamed keeps the migration from running, each by itself",
    arguments: [
      "CREATE TRIGGER watch AFTER INSERT ON note BEGIN INSERT INTO seen VALUES (NEW.title); END",
      "CREATE TRIGGER watch AFTER UPDATE ON note BEGIN INSERT INTO seen VALUES (OLD.title); END",
      "CREATE INDEX own ON note (\"title\")",
    ] as [SQL])
  func unfit(object: SQL) async throws {
    let group = try await MigrationGroup([2], Self.notes)
    try await group.write(0, "CREATE TABLE seen (what TEXT)", object, "INSERT INTO note VALUES (1, 'one', 3)")
    #expect(await run(Self.rename, on: group)?.code == .invalidMigration)
    #expect(try await group.rows(0, "SELECT title FROM note") == [["one"]])
  }

  @Test("a trigger that fits, with conditions and into tables that the migration makes, stays")
  func fit() async throws {
    let group = try await MigrationGroup([2], Self.notes)
    try await group.write(
      0, "CREATE TABLE seen (what INTEGER)", "CREATE INDEX own ON note (stars, abs(stars))",
      """
      CREATE TRIGGER watch AFTER INSERT ON note WHEN NEW.stars > 3 BEGIN INSERT INTO seen VALUES (NEW.stars); END
      """)
    #expect(await run(Self.rename, on: group) == nil)
    try await group.write(0, "INSERT INTO note (id, name, stars) VALUES (1, 'one', 4), (2, 'two', 3)")
    #expect(try await group.rows(0, "SELECT what FROM seen") == [[4]])
  }

  @Test("a row that refers to one that a merge has deleted is no matter of a migration, nor unsound")
  func dangling() async throws {
    let group = try await MigrationGroup([2, 2], Self.notes)
    try await group.write(0, "INSERT INTO note VALUES (1, 'one', 3)")
    try await group.exchange()
    try await group.write(
      0, "CREATE TABLE extra (id INTEGER PRIMARY KEY, note INTEGER REFERENCES note)", "INSERT INTO extra VALUES (1, 1)")
    try await group.write(1, "DELETE FROM note")
    try await group.send(1, to: 0)
    #expect(try await group[0].maintenance.verify().isSound)
    let drop = Migration(3, "gone") { $0.rename("note", to: "article") }
    let failure = await run(drop, on: group)
    #expect(
      failure?.code == .constraint && failure?.message.contains("extra.note") == true, "\(String(describing: failure))")
    #expect(await run(Self.rename, on: group) == nil)
  }
}
