import Foundation
import Godwit
import Testing

@Suite("Migrations")
struct MigrationTests {
  @Migrations.Builder private static func notes() -> [Migration] {
    Migration(1, "notes") {
      $0.create("folder") {
        $0.column("id", Int.self)
        $0.column("name", String.self, default: "")
      }
      $0.create("note") {
        $0.column("id", Int.self)
        $0.column("titel", String.self, default: "")
        $0.column("views", Int.self, default: 0)
        $0.column("mood", String?.self)
        $0.column("folder", Int?.self, references: "folder", onDelete: .cascade)
        $0.index("titel")
      }
    }
    Migration(2, "better names") {
      $0.alter("note") {
        $0.rename("titel", to: "title")
        $0.drop("mood")
      }
      $0.alter("note") {
        $0.add("stars", Int.self, default: 3, check: "stars BETWEEN 0 AND 5")
        $0.add("slug", String.self, from: "title", by: "lower(title)", default: "")
      }
      $0.rename("folder", to: "shelf")
      $0.alter("note") { $0.addIndex("slug") }
    }
    Migration(3, "exact views") {
      $0.alter("note") {
        $0.change("views", Double.self, default: 0)
        $0.dropIndex("title")
      }
      $0.run("tag the first", "UPDATE note SET title = title || '!' WHERE id = 1")
    }
  }

  /// The first replica has version 1 or 2.
  private static func filled(_ versions: [Int] = [1]) async throws -> MigrationGroup {
    let group = try await MigrationGroup(versions, notes)
    let isFirst = versions[0] == 1
    try await group.write(0, SQL(text: "INSERT INTO \(isFirst ? "folder" : "shelf") (id, name) VALUES (1, 'inbox')"))
    try await group.write(
      0,
      isFirst
        ? "INSERT INTO note (id, titel, views, mood, folder) VALUES (1, 'One', 7, 'good', 1), (2, 'Two', 8, NULL, NULL)"
        : "INSERT INTO note (id, title, views, slug) VALUES (1, 'One', 7, 'one')")
    return group
  }

  @Test("rename, drop, add and derive columns, rename tables, and keep the rows and their references")
  func structure() async throws {
    let group = try await Self.filled()
    try await group.update(0, to: 2)
    #expect(
      try await group.rows(0, "SELECT id, title, views, folder, stars, slug FROM note ORDER BY id")
        == [[1, "One", 7, 1, 3, "one"], [2, "Two", 8, .null, 3, "two"]])
    #expect(try await group.rows(0, "SELECT name FROM shelf") == [["inbox"]])
    #expect(try await group.rows(0, "PRAGMA foreign_key_list(note)").first?[2] == "shelf")
    let indexes = try await group.rows(
      0, "SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL AND name LIKE 'index%' ORDER BY 1")
    #expect(indexes == [["index_note_on_slug"], ["index_note_on_title"]])
    #expect(try await group[0].maintenance.verify().problems == [])

    // Capture continues, and the references act.
    try await group.write(0, "UPDATE note SET stars = 5 WHERE id = 2")
    #expect(try await group[0].history.log(limit: 1).first?.changes.first?.updated == 1)
    try await group.write(0, "DELETE FROM shelf WHERE id = 1")
    #expect(try await group.rows(0, "SELECT id FROM note") == [[2]])
    let failure = await error { try await group.write(0, "UPDATE note SET stars = 6") }
    #expect(failure?.message == "CHECK constraint failed: note.stars")
  }

  @Test("a table migrated step by step is the table made at once")
  func sameTables() async throws {
    let group = try await Self.filled([1, 3])
    try await group.update(0, to: 2)
    try await group.update(0, to: 3)
    try await group.exchange()
    try await group.expectSame()
    let sql =
      "SELECT replace(sql, 'IF NOT EXISTS ', '') FROM sqlite_master WHERE name IN ('note', 'shelf') ORDER BY name"
    #expect(try await group.rows(0, sql) == group.rows(1, sql))
  }

  @Test("widen values and run data steps as transactions of their own")
  func dataSteps() async throws {
    let group = try await Self.filled()
    try await group.write(0, "UPDATE note SET views = 9007199254740993 WHERE id = 2")
    let before = try await group[0].history.log(limit: 1).first?.sequence ?? 0
    try await group.update(0, to: 3)
    #expect(
      try await group.rows(0, "SELECT title, views, typeof(views) FROM note ORDER BY id")
        == [["One!", 7.0, "real"], ["Two", 9_007_199_254_740_992.0, "real"]])
    let entry = try #require(try await group[0].history.log(limit: 1).first)
    #expect(entry.sequence == before + 1 && entry.changes.map(\.updated) == [1])
    let losses = try await group[0].migrations.losses()
    #expect(losses.map(\.value) == [9_007_199_254_740_993] && losses.map(\.key) == [[2]])
    #expect(losses.map(\.column) == ["views"] && losses.map(\.version) == [3])
  }

  @Test("run once, and are recorded with their checksums")
  func once() async throws {
    let group = try await Self.filled()
    try await group.update(0, to: 3)
    try await group.update(0, to: 3)
    #expect(try await group.rows(0, "SELECT title FROM note WHERE id = 1") == [["One!"]])
    let status = try await group[0].migrations.status()
    #expect(status.version == 3 && status.migrations.map(\.name) == ["notes", "better names", "exact views"])
    #expect(status.migrations.allSatisfy { $0.checksum.count == 64 && $0.appliedAt != nil })
    #expect(status.migrations.last?.appliedAtMilliseconds == group.clock.wallClock.milliseconds())
    #expect(try await group[0].status().schemaVersion == 3)
  }

  @Test("a plan says what would happen and changes nothing")
  func plan() async throws {
    let group = try await Self.filled()
    let before = try await group[0].maintenance.digest()
    let plan = try await group[0].migrations.plan(group.migrations(3))
    #expect(plan.from == 1 && plan.to == 3)
    #expect(plan.versions.map { $0.rebuilt.map(\.table).sorted() } == [["note", "shelf"], ["note"]])
    #expect(plan.versions[1].rebuilt.map(\.rows) == [2])
    #expect(plan.versions.map(\.written) == [0, 1])
    #expect(plan.versions[0].steps[0] == "rename column titel of note to title")
    #expect(try await group[0].maintenance.digest() == before)
    #expect(try await group[0].migrations.status().version == 1)
    #expect(try await group[0].history.log(limit: 10).count == 2)
    // The replica works as if nothing had been.
    try await group.write(0, "UPDATE note SET titel = 'still' WHERE id = 1")
    #expect(try await group[0].maintenance.verify().problems == [])
  }

  @Test("a migration that fails leaves the database as it was")
  func failing() async throws {
    let group = try await Self.filled()
    await group[0].close()
    let bad = Migrations(
      Array(group.migrations.prefix(2)) + [
        Migration(3, "unkept") { $0.run("two", "UPDATE note SET stars = 9") }
      ])
    let failure = await error { try await ReplicaPair.open(group.path(0), [], group.clock, migrations: bad) }
    #expect(failure?.code == .constraint)
    #expect(failure?.message.contains("migration 3 \"unkept\" failed") == true)
    try await group.update(0, to: 1)
    #expect(try await group.rows(0, "SELECT count(*) FROM note WHERE titel <> '' AND views > 0") == [[2]])
    #expect(try await group[0].maintenance.verify().problems == [])
  }

  @Test("a table that is made in the place of another one has its own sums, and neither holds what the other did")
  func madeInPlace() async throws {
    let group = try await MigrationGroup([1, 1]) {
      Migration(1, "two") {
        $0.create("first") { $0.column("id", Int.self) }
        $0.create("second") {
          $0.column("id", Int.self)
          $0.column("name", String.self, default: "")
        }
      }
      Migration(2, "another") {
        $0.drop("second")
        $0.create("third") { $0.column("id", Int.self) }
      }
    }
    try await group.write(0, "INSERT INTO second VALUES (1, 'x')")
    for number in 0...1 { try await group.update(number, to: 2) }
    try await group.write(0, "INSERT INTO third VALUES (1)")
    try await group.exchange()
    try await group.expectSame()
  }

  @Test("a program that another one has left behind by a barrier writes no more, open as it may be")
  func leftBehind() async throws {
    let group = try await MigrationGroup([1]) {
      Migration(1, "items") {
        $0.create("item") {
          $0.column("id", Int.self)
          $0.column("price", Int.self, default: 0)
        }
      }
      Migration.addition(2, "more") { $0.alter("item") { $0.add("name", String?.self) } }
      Migration(3, "cents") { $0.alter("item") { $0.change("price", Int.self, default: 0, by: "price * 100") } }
    }
    try await group.write(0, "INSERT INTO item VALUES (1, 5)")
    for version in [2, 3] {
      let other = try await ReplicaPair.open(group.path(0), [], group.clock, migrations: group.migrations(version))
      await other.close()
      let failure = await code { try await group.write(0, "UPDATE item SET price = 6") }
      #expect(failure == (version == 2 ? nil : .needsMigration))
      #expect(await code { try await group.write(0, "UPDATE item SET price = 6") } == failure)
    }
    try await group.update(0, to: 3)
    #expect(try await group.rows(0, "SELECT price FROM item") == [[600]])
  }

  @Test("a rule that makes local rows equal which a unique index keeps apart names two of them")
  func equalRows() async throws {
    let group = try await MigrationGroup([1]) {
      Migration(1, "pairs") {
        $0.create("pair", keyCount: 2, sync: .local) {
          $0.column("a", Int.self)
          $0.column("b", String.self)
          $0.column("word", String?.self)
          $0.index("word", unique: true)
        }
      }
    }
    try await group.write(
      0, "INSERT INTO pair VALUES (1, 'x', NULL), (2, 'x', NULL), (3, 'it''s', 'Word'), (4, 'x', 'z'), (5, 'x', 'word')"
    )
    let lower = Migration(2, "lower") { $0.alter("pair") { $0.change("word", String?.self, by: "lower(word)") } }
    let failure = await error { try await group[0].migrations.run(Migrations(group.migrations + [lower])) }
    #expect(failure?.code == .constraint)
    let message = failure?.message ?? ""
    #expect(message.contains("rows (3, 'it''s') and (5, 'x') of table pair hold the same"), "\(message)")
    #expect(message.hasSuffix("(word)"))
    #expect(failure?.hint?.hasPrefix("nothing was altered; ") == true)
  }

  @Test("a migration that was changed after it ran is refused with the difference")
  func changed() async throws {
    let group = try await Self.filled([2])
    await group[0].close()
    let other = Migrations([
      group.migrations[0],
      Migration(2, "better names") {
        $0.alter("note") {
          $0.rename("titel", to: "title")
          $0.drop("mood")
          $0.add("stars", Int.self, default: 4)
        }
      },
    ])
    let failure = await error { try await ReplicaPair.open(group.path(0), [], group.clock, migrations: other) }
    #expect(failure?.code == .migrationMismatch)
    #expect(
      failure?.message.contains("-   add column stars integer default 3 check (stars BETWEEN 0 AND 5) to note") == true)
    #expect(failure?.message.contains("+   add column stars integer default 4 to note") == true)
    #expect(failure?.message.contains("rename column titel") == false)
    let older = await error {
      try await ReplicaPair.open(group.path(0), [], group.clock, migrations: group.migrations(1))
    }
    #expect(older?.code == .needsMigration)
  }

  @Migrations.Builder private static func counted() -> [Migration] {
    Migration(1, "notes") {
      $0.create("note") {
        $0.column("id", Int.self)
        $0.column("hits", Int.self, default: 0, merge: .counter)
        $0.column("tags", Set<String>.self, default: [], merge: .addWinsSet)
        $0.column("best", Int.self, default: 0, merge: .max)
      }
    }
    Migration(2, "top") {
      $0.alter("note") {
        $0.rename("best", to: "top")
        $0.change("top", Int?.self, default: 0)
      }
    }
  }

  @Test("what several writes brought to a column follows it to another name")
  func contributions() async throws {
    let group = try await MigrationGroup([1, 1], Self.counted)
    try await group.write(0, "INSERT INTO note (id, best) VALUES (1, 1)")
    try await group.exchange()
    try await group.write(0, "UPDATE note SET best = 9")
    try await group.write(1, "UPDATE note SET best = 10")
    try await group.send(1, to: 0)
    #expect(try await group.rows(0, "SELECT best FROM note") == [[10]])
    try await group.update(0, to: 2)
    #expect(try await group.rows(0, "SELECT top FROM note") == [[10]])
    try await group.write(1, "UPDATE note SET best = 11")
    try await group.write(0, "UPDATE note SET top = 8")
    try await group.update(1, to: 2)
    for _ in 0..<2 { try await group.exchange() }
    try await group.expectSame()
    #expect(try await group.rows(0, "SELECT top, typeof(top) FROM note") == [[11, "integer"]])
  }

  @Test("no expression makes a counter or a set another, nor another column of them")
  func relativeColumns() async throws {
    let steps: [@Sendable (inout Migration.Table) -> Void] = [
      { $0.change("hits", Int.self, default: 0, by: "hits * 100") },
      { $0.change("tags", Set<String>.self, default: [], by: "lower(tags)") },
      { $0.add("twice", Int?.self, from: "hits", by: "hits * 2") },
      { $0.add("labels", String?.self, from: "tags") },
    ]
    for step in steps {
      let group = try await MigrationGroup([2], Self.counted)
      let next = Migrations(group.migrations + [Migration(3, "x") { $0.alter("note", step) }])
      let failure = await error { try await group[0].migrations.run(next) }
      #expect(failure?.code == .invalidMigration)
      #expect(failure?.hint == "nothing was altered; add another column, and fill it by a data step")
      #expect(try await group[0].migrations.status().version == 2)
    }
  }

  @Test("a data step that inserts what another replica's has inserted says what to do")
  func repeatedData() async throws {
    let group = try await MigrationGroup([1, 1], Self.counted)
    let next = Migrations(
      group.migrations + [Migration(3, "first row") { $0.run("one", "INSERT INTO note (id) VALUES (1)") }])
    try await group[0].migrations.run(next)
    try await group.send(0, to: 1)
    let failure = await error { try await group[1].migrations.run(next) }
    #expect(failure?.code == .constraint)
    #expect(failure?.message.contains("the data step \"one\" breaks a constraint") == true)
    #expect(failure?.hint?.contains("INSERT OR IGNORE") == true)
    #expect(try await group[1].migrations.status().version == 1)
  }

  @Test("a rule makes a value longer by a kibibyte at most, and what it would make longer is no result")
  func doubling() async throws {
    let longest = String(repeating: "é", count: 512)
    for (text, expected): (String, Value) in [(longest, .text(longest + longest)), (longest + "a", .null)] {
      let group = try await MigrationGroup([1, 1]) {
        Migration(1, "words") {
          $0.create("word") {
            $0.column("id", Int.self)
            $0.column("text", String?.self)
          }
        }
        Migration(2, "twice") { $0.alter("word") { $0.change("text", String?.self, by: "text || text") } }
      }
      try await group.write(0, "INSERT INTO word (id, text) VALUES (1, \(text))")
      try await group.update(1, to: 2)
      // In a row, and in a change that comes later.
      try await group.send(0, to: 1)
      try await group.update(0, to: 2)
      for replica in 0...1 {
        #expect(try await group.rows(replica, "SELECT text FROM word") == [[expected]])
        #expect(try await group[replica].migrations.losses().map(\.value) == (expected == .null ? [.text(text)] : []))
      }
    }
  }
}
