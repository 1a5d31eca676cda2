import Godwit
import Testing

@Suite("The conflict log and migrations")
struct ConflictMigrationTests {
  /// Two replicas that have written to the same cells apart: the second one's writes are the later.
  private func edited(
    _ lost: SQL, _ won: SQL, start: SQL = "INSERT INTO note (id) VALUES (1)",
    @Migrations.Builder migrations: () -> [Migration]
  ) async throws -> MigrationGroup {
    let group = try await MigrationGroup([1, 1], migrations)
    try await group.write(0, start)
    try await group.exchange()
    try await group.write(0, lost)
    try await group.write(1, won)
    try await group.exchange()
    return group
  }

  @Migrations.Builder private static func moods() -> [Migration] {
    Migration(1, "notes") {
      $0.create("note") {
        $0.column("id", Int.self)
        $0.column("mood", String?.self)
        $0.column("feeling", String?.self)
      }
    }
    Migration(2, "less") { $0.alter("note") { $0.drop("mood") } }
    Migration(3, "renamed") { $0.alter("note") { $0.rename("feeling", to: "mood") } }
  }

  @Migrations.Builder private static func moodsAtOnce() -> [Migration] {
    moods()[0]
    Migration(2, "both") {
      $0.alter("note") {
        $0.drop("mood")
        $0.rename("feeling", to: "mood")
      }
    }
  }

  @Test("a dropped column's entries stay, and are not those of a later column of its name", arguments: [false, true])
  func dropped(atOnce: Bool) async throws {
    let group = try await edited(
      "UPDATE note SET mood = 'sad', feeling = 'blue'", "UPDATE note SET mood = 'glad', feeling = 'pink'",
      migrations: { return atOnce ? Self.moodsAtOnce() : Self.moods() })
    #expect(try await group[0].conflicts.list().count == 2)
    for number in 0...1 { try await group.update(number, to: atOnce ? 2 : 3) }
    for replica in group.replicas {
      let conflicts = try await replica.conflicts.list().sorted { $0.formerColumns.count < $1.formerColumns.count }
      #expect(conflicts.map(\.columns) == [["mood"], ["mood"]])
      #expect(conflicts.map(\.formerColumns) == [[], ["mood"]])
      #expect(conflicts.map(\.losingValue) == ["blue", "sad"] && conflicts.map(\.winningValue) == ["pink", "glad"])
      let row = try await replica.history.explain(table: "note", key: [1])
      #expect(row.cells.first?.conflicts.map(\.losingValue) == ["blue"] && row.conflicts.map(\.losingValue) == ["sad"])
    }
    let conflicts = try await group[0].conflicts.list()
    let former = try #require(conflicts.first { !$0.formerColumns.isEmpty })
    let refusal = await error { try await group[0].conflicts.restore(former.id) }
    #expect(refusal?.code == .notInSchema && refusal?.hint != nil)
    #expect(try await group[0].conflicts.show(former.id)?.isResolved == false)
    #expect(try await group.rows(0, "SELECT mood FROM note") == [["pink"]])
    let other = try #require(conflicts.first { $0.formerColumns.isEmpty })
    #expect(try await group[0].conflicts.restore(other.id))
    try await group.exchange()
    try await group.expectSame()
    #expect(try await group.rows(1, "SELECT mood FROM note") == [["blue"]])
  }

  @Test("a column of a name that was dropped twice has entries of each time")
  func droppedTwice() async throws {
    let group = try await edited("UPDATE note SET mood = 'sad'", "UPDATE note SET mood = 'glad'") {
      Self.moods()[0]
      Migration(2, "less") { $0.alter("note") { $0.drop("mood") } }
      Migration(3, "again") { $0.alter("note") { $0.add("mood", String?.self) } }
      Migration(4, "less again") { $0.alter("note") { $0.drop("mood") } }
    }
    for number in 0...1 { try await group.update(number, to: 3) }
    #expect(try await group[0].conflicts.list().map(\.formerColumns) == [["mood"]])
    try await group.write(0, "UPDATE note SET mood = 'low'")
    try await group.write(1, "UPDATE note SET mood = 'high'")
    try await group.exchange()
    for number in 0...1 { try await group.update(number, to: 4) }
    #expect(try await group[0].conflicts.list().map(\.formerColumns) == [["mood"], ["mood"]])
    #expect(Set(try await group[0].conflicts.list().map(\.losingValue)) == ["sad", "low"])
  }

  @Test("both values go by the column's rule, and what is restored is what the rule made of it")
  func converted() async throws {
    let group = try await edited("UPDATE note SET views = 7", "UPDATE note SET views = 8") {
      Migration(1, "notes") {
        $0.create("note") {
          $0.column("id", Int.self)
          $0.column("views", Int.self, default: 0)
        }
      }
      Migration(2, "words") {
        $0.alter("note") {
          $0.change("views", String.self, default: "none", by: "'v' || views")
          $0.rename("views", to: "count")
        }
      }
    }
    for number in 0...1 { try await group.update(number, to: 2) }
    let conflict = try #require(try await group[0].conflicts.list().first)
    #expect(conflict.column == "count" && conflict.losingValue == "v7" && conflict.winningValue == "v8")
    #expect(try await group[0].conflicts.restore(conflict.id))
    try await group.exchange()
    try await group.expectSame()
    #expect(try await group.rows(1, "SELECT count FROM note") == [["v7"]])
  }

  @Test("a losing value for which the rule fails or has nothing stays as it was, and stops no migration")
  func unconvertible() async throws {
    for (lost, rule) in [("-9223372036854775807 - 1", "abs(views)"), ("3", "nullif(views, 3)")] {
      let group = try await edited(
        SQL(text: "UPDATE note SET views = \(lost)"), "UPDATE note SET views = 8"
      ) {
        Migration(1, "notes") {
          $0.create("note") {
            $0.column("id", Int.self)
            $0.column("views", Int.self, default: 0)
          }
        }
        Migration(2, "rule") { $0.alter("note") { $0.change("views", Int.self, default: 0, by: rule) } }
      }
      let before = try #require(try await group[0].conflicts.list().first).losingValue
      for number in 0...1 { try await group.update(number, to: 2) }
      let conflict = try #require(try await group[0].conflicts.list().first)
      #expect(conflict.columns == ["views"] && conflict.formerColumns == ["views"] && conflict.losingValue == before)
      #expect(await code { try await group[0].conflicts.restore(conflict.id) } == .notInSchema)
      #expect(try await group.rows(0, "SELECT views FROM note") == [[8]])
    }
  }

  @Test("a losing value that cannot be kept exactly is listed with those of the rows")
  func loss() async throws {
    let group = try await edited("UPDATE note SET views = 9007199254740993", "UPDATE note SET views = 8") {
      Migration(1, "notes") {
        $0.create("note") {
          $0.column("id", Int.self)
          $0.column("views", Int.self, default: 0)
        }
      }
      Migration(2, "reals") { $0.alter("note") { $0.change("views", Double.self, default: 0) } }
    }
    try await group.update(0, to: 2)
    #expect(try await group[0].conflicts.list().map(\.losingValue) == [.real(9_007_199_254_740_992)])
    #expect(try await group[0].migrations.losses().map(\.value) == [9_007_199_254_740_993])
  }

  @Test("columns of a unique index are renamed in its entries, and named when they are gone")
  func compound() async throws {
    let group = try await edited(
      "INSERT INTO account VALUES (1, 'r', 'x')", "INSERT INTO account VALUES (2, 'r', 'x')",
      start: "INSERT INTO account VALUES (9, 'r', 'z')"
    ) {
      Migration(1, "accounts") {
        $0.create("account") {
          $0.column("id", Int.self)
          $0.column("realm", String.self)
          $0.column("login", String?.self)
          $0.index("realm", "login", unique: true)
        }
      }
      Migration(2, "words") {
        $0.alter("account") {
          $0.rename("login", to: "name")
          $0.change("realm", String.self, default: "", by: "upper(realm)")
        }
      }
      Migration(3, "less") {
        $0.alter("account") {
          $0.dropIndex("realm", "name")
          $0.drop("name")
        }
      }
    }
    for number in 0...1 { try await group.update(number, to: 2) }
    var conflict = try #require(try await group[0].conflicts.list(kind: .unique).first)
    #expect(conflict.columns == ["realm", "name"] && conflict.formerColumns.isEmpty)
    #expect(conflict.losingValues == ["R", "x"] && conflict.winningValues == ["R", "x"])
    try await group.update(0, to: 3)
    conflict = try #require(try await group[0].conflicts.list(kind: .unique).first)
    #expect(conflict.columns == ["realm", "name"] && conflict.formerColumns == ["name"])
    #expect(conflict.losingValues == ["R", "x"])
  }

  @Test("entries follow their column when names are exchanged, and not what is derived from it")
  func exchanged() async throws {
    let group = try await edited(
      "UPDATE note SET one = 'a', two = 'b'", "UPDATE note SET one = 'c', two = 'd'"
    ) {
      Migration(1, "notes") {
        $0.create("note") {
          $0.column("id", Int.self)
          $0.column("one", String?.self)
          $0.column("two", String?.self)
        }
      }
      Migration(2, "names") {
        $0.alter("note") {
          $0.rename("one", to: "aside")
          $0.rename("two", to: "one")
        }
        $0.alter("note") {
          $0.rename("aside", to: "two")
          $0.add("copy", String?.self, from: "two", by: "upper(two)")
        }
      }
    }
    for number in 0...1 { try await group.update(number, to: 2) }
    let conflicts = try await group[0].conflicts.list()
    let lost = Dictionary(uniqueKeysWithValues: conflicts.map { ($0.column ?? "", $0.losingValue) })
    #expect(lost == ["two": "a", "one": "b"])
    #expect(conflicts.allSatisfy { $0.formerColumns.isEmpty })
  }
}
