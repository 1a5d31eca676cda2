import Foundation
import Godwit
import Testing

/// `godwit migrate` on a replica whose program is elsewhere.
@Suite struct MigrateTests {
  private static let migrations = [
    Migration(1, "pages") {
      $0.create("page") {
        $0.column("id", Int.self)
        $0.column("titel", String.self, default: "")
      }
    },
    Migration(2, "better names") {
      $0.alter("page") {
        $0.rename("titel", to: "title")
        $0.add("stars", Int.self, default: 3)
      }
    },
    Migration(3, "marks") { $0.run("mark", "UPDATE page SET title = title || '!'") },
  ]

  private func pair() async throws -> (desk: Machine, archive: Machine) {
    let (desk, archive) = (try Machine("desk"), try Machine("archive"))
    #expect(try desk.godwit("init").status == 0)
    try desk.invite(archive)
    try await write(desk, version: 1, "INSERT INTO page VALUES (1, 'one'), (2, 'two')")
    #expect(try desk.pipe(["export", "-"], to: archive, ["import", "-"]).status == 0)
    return (desk, archive)
  }

  private func write(
    _ machine: Machine, version: Int, of migrations: [Migration] = Self.migrations, _ sql: SQL
  ) async throws {
    let replica = try await Replica.open(
      at: machine.replica, models: [],
      configuration: .init(key: machine.keys, migrations: Migrations(Array(migrations.prefix(version)))))
    try await replica.write { _ = try $0.execute(sql) }
    await replica.close()
  }

  @Test func aReplicaMigratesByWhatOthersHaveSent() async throws {
    let (desk, archive) = try await pair()
    try await write(desk, version: 2, "UPDATE page SET stars = 5 WHERE id = 2")
    let imported = try desk.pipe(["export", "-"], to: archive, ["import", "-"])
    #expect(imported.text.contains(#"1 of those for schema version 2 "better names""#), "\(imported.error)")
    #expect(
      try archive.godwit("status").text.contains(
        #"held       1 transaction waits for schema version 2 "better names", which came"#))
    let status = try #require(try archive.godwit("migrate", "--status", "--json").objects().first)
    #expect(status["version"] as? Int == 1)
    #expect((status["migrations"] as? [[String: Any]])?.map { $0["ran"] is String } == [true, false])

    let sender = try #require(try desk.godwit("status", "--json").objects().first?["name"] as? String)
    let brought = (status["migrations"] as? [[String: Any]])?.map {
      ($0["broughtBy"] as? [String: Any])?["name"] as? String
    }
    #expect(brought == [sender, sender])
    #expect((status["migrations"] as? [[String: Any]])?.map { $0["kind"] as? String } == ["addition", "barrier"])
    #expect((status["held"] as? [String: Any])?["transactions"] as? Int == 1)
    #expect(try archive.godwit("migrate", "--status").text.contains("  \(sender)  "))

    let dry = try archive.godwit("migrate", "--dry-run")
    #expect(
      dry.lines.prefix(3) == [
        "2 better names", "  (a barrier: members that have not passed it hold back what is written after it)",
        "  (came with a file of \(sender))",
      ])
    #expect(dry.lines.contains("  rename column titel of page to title"))
    #expect(dry.lines.last == "nothing was changed")
    let plan = try #require(try archive.godwit("migrate", "--json").objects().first)
    #expect(plan["from"] as? Int == 1 && plan["to"] as? Int == 2 && plan["dryRun"] as? Bool == false)
    #expect(Set(plan.keys) == ["from", "to", "dryRun", "versions", "losses"])
    let planned = try #require((plan["versions"] as? [[String: Any]])?.first)
    #expect((planned["broughtBy"] as? [String: Any])?["name"] as? String == sender)
    #expect(try archive.godwit("migrate").lines == ["nothing to do: the tables are of version 2"])
    let rows = try archive.godwit("query", "SELECT id, stars FROM page ORDER BY id", "--json").lines
    #expect(rows == [#"{"id":1,"stars":3}"#, #"{"id":2,"stars":5}"#])

    // The third has a data step, and that is nobody's but the program's.
    try await write(desk, version: 3, "UPDATE page SET stars = 6 WHERE id = 2")
    #expect(try desk.pipe(["export", "-"], to: archive, ["import", "-"]).status == 0)
    for refused in [try archive.godwit("migrate"), try archive.godwit("migrate", "--dry-run")] {
      #expect(refused.status == 14)
      #expect(
        refused.error.contains("the data step \"mark\" is SQL of the program, and is known here by its name alone"))
      #expect(refused.error.contains("godwit migrate FILE"))
    }
    let printed = try archive.godwit("migrate", "--print").text
    #expect(!printed.contains("UPDATE") && printed.contains("sha256"))
    try archive.write(Data(printed.utf8), to: "printed.migrations")
    #expect(try archive.godwit("migrate", "printed.migrations").status == 14)
    let other = try Migrations(Self.migrations).json().replacing("'!'", with: "'?'")
    try archive.write(Data(other.utf8), to: "other.migrations")
    #expect(try archive.godwit("migrate", "other.migrations").error.contains("migration 3 is not the one"))
    try archive.write(Data(try Migrations(Self.migrations).json().utf8), to: "page.migrations")
    #expect(try archive.godwit("migrate", "page.migrations").lines.last == "the tables are of version 3")
  }

  @Test func migrationsGoFromOneReplicaToAnotherAsAFile() async throws {
    let (desk, archive) = try await pair()
    try await write(desk, version: 2, "UPDATE page SET stars = 5 WHERE id = 2")
    let file = try desk.godwit("migrate", "--print")
    try archive.write(Data(file.output), to: "page.migrations")
    let ran = try archive.godwit("migrate", "page.migrations")
    #expect(ran.lines.last == "the tables are of version 2" && !ran.text.contains("came with"))
    #expect(try archive.godwit("migrate", "--print").output == file.output)

    try archive.write(Data(file.text.replacing("better names", with: "other").utf8), to: "other.migrations")
    let refused = try archive.godwit("migrate", "other.migrations")
    #expect(refused.status == 14)
    #expect(refused.error.contains("\n  - ") && refused.error.contains("\n  + ") && !refused.error.contains("\\n"))
    #expect(refused.error.contains("better names") && refused.error.contains("other"))
    let nonsense = try archive.godwit("migrate", "-", input: Data("{}".utf8))
    #expect(nonsense.status == 1 && nonsense.error.contains("the migration file is not what it should be"))
    #expect(try archive.godwit("migrate", "--status", "--dry-run").status == 64)
  }

  private static let sizes = [
    Migration(1, "files") {
      $0.create("file") {
        $0.column("id", Int.self)
        $0.column("size", Int.self, default: 0)
      }
    },
    Migration(2, "reals") { $0.alter("file") { $0.change("size", Double.self, default: 0) } },
  ]

  @Test func valuesThatAreNotKeptExactlyAreListed() async throws {
    let (desk, archive) = (try Machine("desk"), try Machine("archive"))
    try #require(try desk.godwit("init").status == 0)
    try desk.invite(archive)
    func write(_ sql: SQL) async throws {
      let replica = try await Replica.open(
        at: desk.replica, models: [],
        configuration: .init(key: desk.keys, migrations: Migrations(Array(Self.sizes.prefix(1)))))
      try await replica.write { _ = try $0.execute(sql) }
      await replica.close()
    }
    try await write(
      """
      WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 25)
      INSERT INTO file SELECT n, 9007199254740993 FROM number
      """)
    try #require(try desk.pipe(["export", "-"], to: archive, ["import", "-"]).status == 0)
    try archive.write(Data(try Migrations(Self.sizes).json().utf8), to: "file.migrations")

    let dry = try archive.godwit("migrate", "--dry-run", "--json", "file.migrations").objects().first
    let ran = try archive.godwit("migrate", "file.migrations")

    #expect((dry?["losses"] as? [Any])?.count == 25)
    #expect(ran.lines.contains("25 values could not be kept exactly"), "\(ran.error)")
    #expect(ran.lines.contains("  file 1 size: 9007199254740993 (migration 2)"))
    #expect(ran.lines.contains("  and 5 more; all with --json"))
    try await write("UPDATE file SET size = 9007199254740995 WHERE id = 1")
    let imported = try desk.pipe(["export", "-"], to: archive, ["import", "--json", "-"])
    #expect(try imported.objects().first?["losses"] as? Int == 1)
    let status = try archive.godwit("migrate", "--status", "--json").objects().first
    #expect((status?["losses"] as? [Any])?.count == 26)
    let text = try archive.godwit("migrate", "--status")
    #expect(text.lines.contains("26 values could not be kept exactly"))
    #expect(text.lines.contains("  and 6 more; all with --json"))
  }

  @Test func whatWaitsForAVersionAndWhatEachVersionCostsOlderProgramsIsSaid() async throws {
    let (desk, archive) = try await pair()
    let addition = Migration(3, "sizes") { $0.alter("page") { $0.add("size", Int.self, default: 1) } }
    try await write(desk, version: 3, of: Self.migrations.prefix(2) + [addition], "INSERT INTO page (id) VALUES (3)")
    #expect(try desk.pipe(["export", "-"], to: archive, ["import", "-"]).status == 0)
    let missing = try archive.godwit("missing")
    #expect(missing.status == 4 && missing.text.contains("\nversion  1 transaction waits for schema version 3 "))
    let version = try archive.godwit("missing", "--json").objects().first?["heldVersion"] as? [String: Any]
    #expect(version?["version"] as? Int == 3 && version?["transactions"] as? Int == 1)
    let dry = try archive.godwit("migrate", "--dry-run").lines
    let barrier = try #require(dry.firstIndex(of: "2 better names"))
    let sizes = try #require(dry.firstIndex(of: "3 sizes"))
    #expect(
      dry[barrier + 1] == "  (a barrier: members that have not passed it hold back what is written after it)")
    #expect(dry[sizes + 1] == "  (an addition: it travels, and older programs continue as before)")
    #expect(dry[sizes...].contains("  add column size integer default 1 to page"), "\(dry)")
  }
}
