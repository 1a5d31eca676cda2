import Foundation
import Godwit
import Testing

/// Tables that are more than columns, made anew.
@Suite("A table made anew by a migration")
struct RebuildTests {
  struct Draft: Model {
    static let schema = Schema<Self>("draft", sync: .local, autoIncrement: true) { Column("text", \.text) }
    var id = 0
    var text = ""
  }

  struct Renamed: Model {
    static let schema = Schema<Self>("draft", sync: .local, autoIncrement: true) { Column("words", \.words) }
    var id = 0
    var words = ""
  }

  @Migrations.Builder static func pairs() -> [Migration] {
    Migration(1, "first") {
      $0.create("pair", keyCount: 2) {
        $0.column("left", String.self)
        $0.column("right", Int.self)
        $0.column("note", String.self, default: "")
        $0.column("next", String?.self)
        $0.index("note", unique: true)
      }
      $0.create("node") {
        $0.column("id", Int.self)
        $0.column("parent", Int?.self, references: "node", onDelete: .cascade)
        $0.column("name", String.self, default: "")
      }
      $0.create(Draft.self)
    }
    Migration(2, "second") {
      $0.alter("pair") {
        $0.rename("right", to: "other")
        $0.drop("next")
      }
      $0.rename("node", to: "leaf")
      $0.alter("draft") { $0.rename("text", to: "words") }
    }
    Migration(3, "names swap") {
      $0.rename("pair", to: "aside")
      $0.rename("leaf", to: "pair")
      $0.rename("aside", to: "leaf")
    }
  }

  @Test("keeps keys of several columns, references to itself, and numbers once given")
  func kinds() async throws {
    let group = try await MigrationGroup([1, 1], Self.pairs)
    try await group.write(
      0, "INSERT INTO pair VALUES ('a', 1, 'x', NULL), ('a', 2, 'y', 'n')",
      "INSERT INTO node VALUES (1, NULL, 'root'), (2, 1, 'leaf')")
    try await group.exchange()
    try await group.write(0, "INSERT INTO draft (text) VALUES ('one'), ('two')", "DELETE FROM draft WHERE id = 2")
    try await group.write(
      1, "UPDATE pair SET note = 'late' WHERE \"right\" = 2", "UPDATE node SET name = 'late' WHERE id = 2")
    try await group.update(0, to: 2)
    try await group.update(0, to: 3)
    #expect(
      try await group.rows(0, "SELECT left, other, note FROM leaf ORDER BY other") == [["a", 1, "x"], ["a", 2, "y"]])
    #expect(
      try await group.rows(0, "SELECT id, parent, name FROM pair ORDER BY id") == [
        [1, .null, "root"], [2, 1, "leaf"],
      ])
    try await group.write(0, "INSERT INTO draft (words) VALUES ('three')")
    #expect(try await group.rows(0, "SELECT id, words FROM draft ORDER BY id") == [[1, "one"], [3, "three"]])
    let failure = await error { try await group.write(0, "INSERT INTO leaf VALUES ('b', 1, 'x')") }
    #expect(failure?.code == .constraint)

    try await group.send(1, to: 0)
    #expect(try await group.rows(0, "SELECT note FROM leaf WHERE other = 2") == [["late"]])
    #expect(try await group.rows(0, "SELECT name FROM pair WHERE id = 2") == [["late"]])
    try await group.update(1, to: 3)
    try await group.exchange()
    try await group.expectSame()
    try await group.write(0, "DELETE FROM pair WHERE id = 1")
    #expect(try await group.rows(0, "SELECT count(*) FROM pair") == [[0]])
    try await group.exchange()
    try await group.expectSame()
  }

  @Test("keeps the program's own triggers and indexes, and is refused when they do not fit any more")
  func ownObjects() async throws {
    let group = try await MigrationGroup([1], Self.pairs)
    try await group.write(
      0, "CREATE TABLE seen (what TEXT)", "CREATE INDEX own ON pair (left)",
      "CREATE TRIGGER watch AFTER INSERT ON pair BEGIN INSERT INTO seen VALUES (NEW.left); END")
    try await group.write(0, "INSERT INTO pair VALUES ('a', 1, 'x', NULL)")
    try await group.update(0, to: 2)
    try await group.write(0, "INSERT INTO pair VALUES ('b', 1, 'y')")
    #expect(try await group.rows(0, "SELECT what FROM seen") == [["a"], ["b"]])
    #expect(try await group.rows(0, "SELECT count(*) FROM sqlite_master WHERE name = 'own'") == [[1]])
    #expect(try await group[0].history.log(limit: 1).first?.changes.map(\.inserted) == [1])
    let next = Migrations(
      Array(group.migrations.prefix(2)) + [Migration(3, "x") { $0.alter("pair") { $0.rename("left", to: "l") } }])
    let failure = await error { try await group[0].migrations.run(next) }
    #expect(failure?.code == .invalidMigration)
    #expect(try await group.rows(0, "SELECT left FROM pair") == [["a"], ["b"]])
    #expect(try await group[0].maintenance.verify().problems == [])
  }

  @Test("is what the models say, or the replica is not opened; to read only, it must be there already")
  func models() async throws {
    let group = try await MigrationGroup([1], Self.pairs)
    let path = group.path(0)
    await group[0].close()
    let unmade = await error {
      try await Replica.open(at: path, models: Folder.self, configuration: .init(migrations: group.migrations(2)))
    }
    #expect(unmade?.code == .schemaMismatch)
    #expect(unmade?.message == "no migration makes table folder")
    let early = await error {
      try await Replica.open(at: path, configuration: .init(migrations: group.migrations(2), isReadOnly: true))
    }
    #expect(early?.code == .needsMigration)
    let replica = try await Replica.open(
      at: path, models: Renamed.self, configuration: .init(migrations: group.migrations(2)))
    try await replica.write { _ = try $0.insert(Renamed(words: "typed")) }
    #expect(try await replica.fetch(Renamed.all).map(\.words) == ["typed"])
    await replica.close()
    let reading = try await Replica.open(
      at: path, models: Renamed.self, configuration: .init(migrations: group.migrations(2), isReadOnly: true))
    #expect(try await reading.count(Renamed.all) == 1)
    await reading.close()
  }

  @Test("keeps what its references to itself may not do when it is renamed")
  func acyclic() async throws {
    let group = try await MigrationGroup([1, 1]) {
      Migration(1, "nodes") {
        $0.create("node") {
          $0.column("id", Int.self)
          $0.column("parent", Int?.self, references: "node", onDelete: .setNull, acyclic: true)
        }
      }
      Migration(2, "leaves") { $0.rename("node", to: "leaf") }
    }
    try await group.write(0, "INSERT INTO node VALUES (1, NULL), (2, NULL)")
    try await group.exchange()
    for number in 0...1 { try await group.update(number, to: 2) }
    #expect(await code { try await group.write(0, "UPDATE leaf SET parent = id WHERE id = 1") } == .constraint)
    // What closes a circle together is shown on one side alone.
    try await group.write(0, "UPDATE leaf SET parent = 2 WHERE id = 1")
    try await group.write(1, "UPDATE leaf SET parent = 1 WHERE id = 2")
    try await group.exchange()
    try await group.expectSame()
    #expect(try await group.rows(0, "SELECT count(parent) FROM leaf") == [[1]])
  }
}
