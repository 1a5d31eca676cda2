import Foundation
import Godwit
import GodwitCore
import Testing

@testable import Godwit
@testable import GodwitEngine

/// Replicas that migrate at different times exchange what they wrote before and after.
@Suite("Mixed versions")
struct MixedVersionTests {
  @Migrations.Builder private static func notes() -> [Migration] {
    Migration(1, "notes") {
      $0.create("note") {
        $0.column("id", Int.self)
        $0.column("titel", String.self, default: "")
        $0.column("views", Int.self, default: 0)
        $0.column("mood", String?.self)
      }
      $0.create("trash") {
        $0.column("id", Int.self)
        $0.column("what", String.self, default: "")
      }
    }
    Migration(2, "second") {
      $0.alter("note") {
        $0.rename("titel", to: "title")
        $0.change("views", String.self, default: "none", by: "'v' || views")
      }
      $0.alter("note") {
        $0.drop("mood")
        $0.add("stars", Int.self, default: 3)
        $0.add("slug", String.self, from: "title", by: "lower(title)", default: "")
      }
      $0.drop("trash")
    }
    Migration(3, "third") {
      $0.rename("note", to: "memo")
      $0.create("tag") {
        $0.column("id", Int.self)
        $0.column("name", String.self, default: "")
      }
    }
  }

  private static let memo = "SELECT id, title, views, stars, slug FROM note ORDER BY id"

  @Test("changes made before a migration are carried forward through its steps")
  func forward() async throws {
    let group = try await MigrationGroup([1, 2], Self.notes)
    try await group.write(0, "INSERT INTO note VALUES (1, 'One', 1, 'good')", "INSERT INTO trash VALUES (1, 'x')")
    try await group.write(0, "UPDATE note SET titel = 'ONE', mood = 'bad' WHERE id = 1")
    try await group.write(0, "INSERT INTO note VALUES (2, 'Two', 2, NULL)")
    try await group.write(0, "DELETE FROM note WHERE id = 2")
    let report = try await group.send(0, to: 1)
    #expect(report.applied.transactions == 4 && report.heldCount == 0)
    #expect(try await group.rows(1, Self.memo) == [[1, "ONE", "v1", 3, "one"]])
    try await group.update(0, to: 2)
    try await group.expectSame()
  }

  @Test("a value that a rule has nothing for becomes the default wherever it meets the rule, and is listed")
  func failingRule() async throws {
    let group = try await MigrationGroup([1, 2]) {
      Migration(1, "notes") {
        $0.create("note") {
          $0.column("id", Int.self)
          $0.column("n", Int.self, default: 0)
        }
      }
      Migration(2, "sizes") { $0.alter("note") { $0.change("n", Double.self, default: 7, by: "abs(n) * 1.0") } }
    }
    try await group.write(0, "INSERT INTO note VALUES (1, -9223372036854775808), (2, -2)")
    let report = try await group.send(0, to: 1)
    #expect(report.applied.transactions == 1 && report.attention.losses == 1)
    try await group.update(0, to: 2)
    for replica in 0...1 {
      #expect(try await group.rows(replica, "SELECT id, n FROM note ORDER BY id") == [[1, 7.0], [2, 2.0]])
      #expect(try await group[replica].migrations.losses().map(\.value) == [.integer(.min)])
    }
    try await group.expectSame()
  }

  @Test("what a newer version wrote waits whole, and is applied with the migration")
  func held() async throws {
    let group = try await MigrationGroup([1, 2], Self.notes)
    try await group.write(0, "INSERT INTO note VALUES (1, 'One', 1, 'good')")
    try await group.send(0, to: 1)
    try await group.write(1, "UPDATE note SET title = 'Uno', stars = 5, views = 'many' WHERE id = 1")
    try await group.write(1, "INSERT INTO note (id, title, views, stars, slug) VALUES (2, 'Two', 'few', 1, 'two')")
    let report = try await group.send(1, to: 0)
    #expect(report.applied.transactions == 0 && report.waiting.transactions == 2 && report.waiting.missing.isEmpty)
    #expect(try await group.rows(0, "SELECT * FROM note") == [[1, "One", 1, "good"]])
    let held = try await group[0].status().heldVersion
    #expect(held?.version == 2 && held?.name == "second" && held?.transactions == 2)
    #expect(held?.broughtBy == group[1].identity.replica && held == report.waiting.held)
    let missing = try await group[0].history.missing()
    #expect(missing.heldVersion == held && missing.waiting.map(\.transactions) == [2] && missing.missing.isEmpty)
    #expect(try await group[0].maintenance.verify().problems == [])

    let plan = try await group[0].migrations.run(group.migrations(2))
    #expect(plan.versions.map(\.isAddition) == [false] && plan.versions.map(\.released) == [2])
    #expect(try await group[0].status().heldVersion == nil)
    #expect(try await group.rows(0, Self.memo) == [[1, "Uno", "many", 5, "one"], [2, "Two", "few", 1, "two"]])
    try await group.expectSame()
  }

  @Test("what waited is applied in the migration's own transaction: a step that fails afterwards takes it back")
  func oneTransaction() async throws {
    let group = try await MigrationGroup([1, 2], Self.notes)
    try await group.write(0, "INSERT INTO note VALUES (1, 'One', 1, 'good')")
    try await group.send(0, to: 1)
    try await group.write(1, "UPDATE note SET title = 'Uno' WHERE id = 1")
    try await group.send(1, to: 0)
    // It runs after what waited has been applied.
    let failing = Migration(3, "third") { $0.run("twice", "INSERT INTO note (id, title, slug) VALUES (1, 'Uno', '')") }
    let migrations = Migrations(Array(group.migrations.prefix(2)) + [failing])
    #expect(await code { try await group[0].migrations.run(migrations) } == .constraint)
    #expect(try await group[0].status().schemaVersion == 1)
    #expect(try await group[0].status().heldVersion?.transactions == 1)
    #expect(try await group.rows(0, "SELECT titel FROM note") == [["One"]])
    #expect(try await group[0].maintenance.verify().problems == [])
    try await group[0].migrations.run(group.migrations(2))
    #expect(try await group.rows(0, "SELECT title FROM note") == [["Uno"]])
    try await group.expectSame()
  }

  @Test("what waits for a version is bounded for each member, and all else is applied")
  func bounded() async throws {
    let group = try await MigrationGroup([1, 2, 1], Self.notes)
    // Random bytes stay as large as they are, and 32 MiB of an origin wait.
    for id in 1...9 {
      try await group.write(
        1, "INSERT INTO note (id, title, slug) VALUES (\(id), hex(randomblob(2000000)), '')")
    }
    try await group.write(2, "INSERT INTO note VALUES (20, 'Twenty', 1, 'good')")
    let endless = try await group.send(1, to: 0)
    let dropped = endless.attention.dropped
    #expect(endless.waiting.transactions == 8 && dropped.map(\.reason) == [.limit], "\(endless.waiting)")
    #expect(dropped.map(\.replica) == [group[1].identity.replica] && dropped.map(\.sequences) == [9...9])
    let other = try await group.send(2, to: 0)
    #expect(other.applied.transactions == 1 && other.waiting.transactions == 8)
    #expect(try await group.rows(0, "SELECT id, titel FROM note") == [[20, "Twenty"]])

    try await group.update(0, to: 2)
    #expect(try await group.rows(0, "SELECT count(*) FROM note") == [[9]])
    #expect(try await group.send(1, to: 0).applied.transactions == 1)
    #expect(try await group.rows(0, "SELECT count(*) FROM note") == [[10]])
  }

  @Test("a data step sees what others of its version have written, and is sent to them")
  func dataStepAfterHeld() async throws {
    let group = try await MigrationGroup([1, 1]) {
      Migration(1, "notes") {
        $0.create("note") {
          $0.column("id", Int.self)
          $0.column("first", String.self)
          $0.column("last", String.self)
        }
      }
      Migration(2, "names") {
        $0.alter("note") { $0.add("whole", String?.self) }
        $0.run("fill", "UPDATE note SET whole = first || ' ' || last WHERE whole IS NULL")
      }
    }
    try await group.write(0, "INSERT INTO note VALUES (1, 'Ada', 'L'), (2, 'Alan', 'T')")
    try await group.exchange()
    try await group.write(
      1, "INSERT INTO note VALUES (3, 'Grace', 'H')", "UPDATE note SET last = 'Turing' WHERE id = 2")
    try await group.update(0, to: 2)
    try await group.write(0, "UPDATE note SET whole = 'Countess' WHERE id = 1")
    try await group.send(0, to: 1)
    let before = try await group[1].history.log(limit: 1).first?.sequence ?? 0
    try await group.update(1, to: 2)
    let names = "SELECT whole FROM note ORDER BY id"
    #expect(try await group.rows(1, names) == [["Countess"], ["Alan T"], ["Grace H"]])
    let step = try await group[1].history.log(limit: 1).first
    #expect(step?.replica == group[1].identity.replica && step?.changes.map(\.updated) == [1] && before > 0)
    try await group.exchange()
    try await group.expectSame()
    #expect(try await group.rows(0, names) == [["Countess"], ["Alan T"], ["Grace H"]])
    #expect(try await group[0].conflicts.list().isEmpty)
  }

  @Test("what waits here is passed on, and applied by who has the version")
  func relay() async throws {
    let group = try await MigrationGroup([3, 1, 3], Self.notes)
    try await group.write(
      0, "INSERT INTO tag VALUES (1, 'red')", "INSERT INTO memo (id, title, slug) VALUES (1, 'One', 'one')")
    #expect(try await group.send(0, to: 1).heldCount == 1)
    #expect(try await group.rows(1, "SELECT id FROM note") == [])
    try await group.send(1, to: 2)
    #expect(try await group.rows(2, "SELECT name FROM tag") == [["red"]])
    #expect(try await group.rows(2, "SELECT title, slug FROM memo") == [["One", "one"]])
    try await group.update(1, to: 3)
    #expect(try await group.rows(1, "SELECT name FROM tag") == [["red"]])
    try await group.expectSame()
  }

  @Test("a dropped column or table that others still write to is ignored here and passed on")
  func dropped() async throws {
    let group = try await MigrationGroup([1, 2, 1], Self.notes)
    try await group.write(0, "INSERT INTO note VALUES (1, 'One', 1, 'good')", "INSERT INTO trash VALUES (1, 'x')")
    try await group.send(0, to: 1)
    try await group.write(0, "UPDATE note SET mood = 'bad'", "UPDATE trash SET what = 'y'")
    let report = try await group.send(0, to: 1)
    #expect(report.applied.transactions == 1 && report.heldCount == 0)
    #expect(try await group.rows(1, "SELECT name FROM sqlite_master WHERE name = 'trash'") == [])
    try await group.send(1, to: 2)
    #expect(try await group.rows(2, "SELECT mood FROM note") == [["bad"]])
    #expect(try await group.rows(2, "SELECT what FROM trash") == [["y"]])
    try await group.update(0, to: 2)
    try await group.update(2, to: 2)
    try await group.exchange()
    try await group.expectSame()
  }

  @Test("a late edit of the old column and an edit of the new one meet by their stamps")
  func concurrent() async throws {
    let group = try await MigrationGroup([1, 1], Self.notes)
    try await group.write(0, "INSERT INTO note VALUES (1, 'One', 1, 'good'), (2, 'Two', 2, 'good')")
    try await group.exchange()
    try await group.update(0, to: 2)
    try await group.write(0, "UPDATE note SET views = 'new', slug = 'mine'")
    try await group.write(1, "UPDATE note SET views = 9, titel = 'Late' WHERE id = 1")
    try await group.send(1, to: 0)
    #expect(try await group.rows(0, Self.memo) == [[1, "Late", "v9", 3, "late"], [2, "Two", "new", 3, "mine"]])
    try await group.send(0, to: 1)
    try await group.update(1, to: 2)
    try await group.exchange()
    try await group.expectSame()
    #expect(try await group.rows(1, Self.memo) == [[1, "Late", "v9", 3, "late"], [2, "Two", "new", 3, "mine"]])
  }

  @Test("a deleted row that an edit of another version brings back has its converted values")
  func deletedCells() async throws {
    let group = try await MigrationGroup([1, 1], Self.notes)
    try await group.write(0, "INSERT INTO note VALUES (1, 'One', 1, 'good')")
    try await group.exchange()
    try await group.write(0, "DELETE FROM note WHERE id = 1")
    try await group.update(0, to: 2)
    try await group.write(1, "UPDATE note SET mood = 'late' WHERE id = 1")
    try await group.send(1, to: 0)
    #expect(try await group.rows(0, Self.memo) == [[1, "One", "v1", 3, "one"]])
    try await group.send(0, to: 1)
    try await group.update(1, to: 2)
    try await group.exchange()
    try await group.expectSame()
  }

  @Test("an edit of a newer version keeps a row that was deleted meanwhile, once the migration has run")
  func heldEditKeepsTheRow() async throws {
    let group = try await MigrationGroup([1, 2], Self.notes)
    try await group.write(0, "INSERT INTO note VALUES (1, 'One', 1, 'good')")
    try await group.exchange()
    try await group.write(0, "DELETE FROM note WHERE id = 1")
    try await group.write(1, "UPDATE note SET stars = 5 WHERE id = 1")
    try await group.exchange()
    #expect(try await group.rows(0, "SELECT titel FROM note") == [])
    try await group.update(0, to: 2)
    #expect(try await group[0].conflicts.list().map(\.kind) == [.delete])
    try await group.exchange()
    try await group.expectSame()
    #expect(try await group.rows(0, "SELECT title, stars FROM note") == [["One", 5]])
  }

  @Test("two replicas that ran different migrations under one number refuse each other, with the difference")
  func mismatch() async throws {
    let group = try await MigrationGroup([2, 1], Self.notes)
    let other = Migrations([
      group.migrations[0], Migration(2, "second") { $0.alter("note") { $0.add("color", String?.self) } },
    ])
    await group[1].close()
    let there = try await ReplicaPair.open(group.path(1), [], group.clock, migrations: other)
    let file = group.folder.file("file")
    _ = try await group[0].export(to: .file(file))
    let failure = await error { try await there.import(from: .file(file)) }
    #expect(failure?.code == .migrationMismatch)
    #expect(failure?.message.contains("+   add column stars integer default 3 to note") == true)
    #expect(failure?.message.contains("-   add column color text optional to note") == true)
    #expect(try await there.maintenance.verify().problems == [])
    await there.close()
  }

  @Test("a migration that only came with a file gives way to another while nothing was written at its version")
  func givenUp() async throws {
    let group = try await MigrationGroup([1, 2], Self.notes)
    try await group.send(1, to: 0)
    #expect(try await group[0].migrations.status().migrations.count == 2)
    let other = Migrations([
      group.migrations[0], Migration(2, "better") { $0.alter("note") { $0.add("color", String?.self) } },
    ])
    await group[0].close()
    let here = try await ReplicaPair.open(group.path(0), [], group.clock, migrations: other)
    #expect(try await here.migrations.status().migrations.map(\.name) == ["notes", "better"])
    await here.close()

    let second = try await MigrationGroup([1, 2], Self.notes)
    try await second.write(1, "INSERT INTO note (id, slug) VALUES (1, '')")
    try await second.send(1, to: 0)
    await second[0].close()
    let failure = await error { try await ReplicaPair.open(second.path(0), [], second.clock, migrations: other) }
    #expect(failure?.code == .migrationMismatch)
  }

  @Test("a replica without tables takes over tables and migrations of the first file")
  func takeOver() async throws {
    let group = try await MigrationGroup([2, 0], Self.notes)
    try await group.write(0, "INSERT INTO note (id, title, slug) VALUES (1, 'One', 'one')")
    try await group.send(0, to: 1)
    try await group.expectSame()
    #expect(try await group[1].migrations.status().version == 2)
    // It learns of the third from the next file, and can run it though no program has it here.
    try await group.update(0, to: 3)
    try await group.write(0, "UPDATE memo SET title = 'Eins'")
    try await group.send(0, to: 1)
    #expect(try await group.rows(1, "SELECT title FROM note") == [["One"]])
    let status = try await group[1].migrations.status()
    #expect(status.version == 2 && status.migrations.map(\.appliedAt).last == .some(nil) && status.held?.version == 3)
    let plan = try await group[1].migrations.run(group[1].migrations.known())
    #expect(plan.from == 2 && plan.to == 3)
    try await group.expectSame()
    // The program's own migrations are the same ones.
    try await group.update(1, to: 3)
    #expect(try await group.rows(1, "SELECT title FROM memo") == [["Eins"]])
  }

  @Test("a replica that has met others, and has collections alone, runs what a person has it run")
  func noTakeOverLater() async throws {
    let group = try await MigrationGroup([0, 0], Self.notes)
    try await group[0].documents("place").set("here", json: "{}")
    try await group.exchange()
    try await group.update(0, to: 2)
    try await group.write(0, "INSERT INTO note (id, title, slug) VALUES (1, 'One', 'one')")
    #expect(try await group.send(0, to: 1).heldCount == 1)
    let status = try await group[1].migrations.status()
    // The first is an addition, and the second a barrier.
    #expect(status.version == 1 && status.migrations.map(\.version) == [1, 2])
    #expect(try await group[1].migrations.run(group[1].migrations.known()).to == 2)
    try await group.expectSame()
    #expect(try await group.rows(1, "SELECT title FROM note") == [["One"]])
    #expect(try await group[1].documents("place").keys() == ["here"])
  }

  @Test("a replica that wrote documents before it met anybody starts where the first file's sender is")
  func takeOverWithDocuments() async throws {
    let group = try await MigrationGroup([2, 0], Self.notes)
    try await group.write(0, "INSERT INTO note (id, title, slug) VALUES (1, 'One', 'one')")
    try await group[1].documents("place").set("there", json: "{}")
    try await group.send(0, to: 1)
    #expect(try await group[1].migrations.status().version == 2)
    try await group.exchange()
    try await group.expectSame()
    #expect(try await group[0].documents("place").keys() == ["there"])
  }

  @Test("tables made without migrations become the first version's")
  func fromUnversioned() async throws {
    struct Page: Model {
      static let schema = Schema<Self>("page") { Column("title", \.title) }
      var id = 0
      var title = ""
    }
    let group = try await MigrationGroup([0, 0]) {
      Migration(1, "pages") { $0.create(Page.self) }
      Migration(2, "names") { $0.alter("page") { $0.rename("title", to: "name") } }
    }
    for replica in group.replicas { try await replica.makeTable(Page.schema.definition()) }
    try await group.write(0, "INSERT INTO page VALUES (1, 'one')")
    try await group.exchange()
    try await group.update(0, to: 2)
    try await group.write(1, "INSERT INTO page VALUES (2, 'two')")
    try await group.write(0, "UPDATE page SET name = 'eins' WHERE id = 1")
    try await group.exchange()
    #expect(try await group.rows(0, "SELECT name FROM page ORDER BY id") == [["eins"], ["two"]])
    #expect(try await group.rows(1, "SELECT title FROM page ORDER BY id") == [["one"], ["two"]])
    #expect(try await group[1].status().schemaVersion == 1)
    try await group.update(1, to: 1)
    try await group.update(1, to: 2)
    try await group.expectSame()
  }

  @Test("an import counts the values that it could not keep exactly on their way to the tables here")
  func losses() async throws {
    let group = try await MigrationGroup([1, 2]) {
      Migration(1, "notes") {
        $0.create("note") {
          $0.column("id", Int.self)
          $0.column("size", Int.self, default: 0)
        }
      }
      Migration(2, "reals") { $0.alter("note") { $0.change("size", Double.self, default: 0) } }
    }
    try await group.write(0, "INSERT INTO note VALUES (1, 9007199254740993), (2, 7)")
    #expect(try await group.send(0, to: 1).attention.losses == 1)
    #expect(try await group[1].migrations.losses().map(\.value) == [9_007_199_254_740_993])
    #expect(try await group.send(0, to: 1).attention.losses == 0)
  }
}
