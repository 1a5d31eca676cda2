import Godwit
import Testing

@testable import Godwit
@testable import GodwitEngine

@Suite("Rows in limbo and migrations")
struct LimboMigrationTests {
  @MigrationsBuilder private static func accounts() -> [Migration] {
    Migration(1, "accounts") {
      CreateTable(
        "account",
        [NewColumn("id", Int.self), NewColumn("login", String.self), NewColumn("plan", String.self, default: "")],
        unique: [["login"]])
    }
    Migration(2, "not unique") { DropIndex("login", from: "account") }
  }

  @MigrationsBuilder private static func rebuilt() -> [Migration] {
    accounts()[0]
    Migration(2, "not unique") {
      DropIndex("login", from: "account")
      DropColumn("plan", from: "account")
    }
  }

  /// Two replicas with one login each, so that one row waits for the other's.
  private func contested(_ migrations: @escaping () -> [Migration]) async throws -> MigrationGroup {
    let group = try await MigrationGroup([1, 1], migrations)
    try await group.write(0, "INSERT INTO account (id, login) VALUES (1, 'x')")
    try await group.write(1, "INSERT INTO account (id, login) VALUES (2, 'x')")
    for _ in 0..<2 { try await group.exchange() }
    for replica in group.replicas { #expect(try await replica.status().limbo == 1) }
    return group
  }

  @Test("a row that waited for a unique value is shown when its index is gone", arguments: [false, true])
  func released(isRebuilt: Bool) async throws {
    let group = try await contested { isRebuilt ? Self.rebuilt() : Self.accounts() }
    try await group.update(0, to: 2)
    #expect(try await group.rows(0, "SELECT id, login FROM account ORDER BY id") == [[1, "x"], [2, "x"]])
    #expect(try await group[0].status().limbo == 0)
    for _ in 0..<2 { try await group.exchange() }
    try await group.write(0, "UPDATE account SET login = 'y' WHERE id = 2")
    try await group.update(1, to: 2)
    for _ in 0..<2 { try await group.exchange() }
    for number in 0...1 {
      #expect(try await group.rows(number, "SELECT id, login FROM account ORDER BY id") == [[1, "x"], [2, "y"]])
      #expect(try await group[number].status().limbo == 0)
    }
    try await group.expectSame()
  }

  @MigrationsBuilder private static func unique() -> [Migration] {
    Migration(1, "notes") {
      CreateTable("shelf", [NewColumn("id", Int.self)])
      CreateTable(
        "book",
        [
          NewColumn("id", Int.self), NewColumn("word", String.self, default: ""),
          NewColumn("shelf", Int?.self, references: "shelf", onDelete: .setNull),
        ])
    }
    Migration(2, "one of each") {
      ChangeColumn("word", String.self, in: "book", default: "", by: "lower(word)")
      AddIndex("word", to: "book", isUnique: true)
      AddIndex("shelf", to: "book", isUnique: true)
    }
  }

  @Test(
    "of rows that a new unique index finds equal the one with the least key is shown, and the others wait, whole",
    arguments: [false, true])
  func equalRows(migratesFirst: Bool) async throws {
    let group = try await MigrationGroup([1, 1], Self.unique)
    try await group.write(0, "INSERT INTO shelf VALUES (1)", "INSERT INTO book VALUES (1, 'Emma', NULL)")
    try await group.write(0, "INSERT INTO book VALUES (2, 'EMMA', 1), (3, 'momo', NULL)")
    if migratesFirst { try await group.update(1, to: 2) }
    try await group.exchange()
    for number in 0...1 { try await group.update(number, to: 2) }
    for number in 0...1 {
      #expect(try await group.rows(number, "SELECT id, word FROM book ORDER BY id") == [[1, "emma"], [3, "momo"]])
      let waiting = try await group[number].limbo()
      #expect(waiting.map(\.key) == [[2]] && waiting.first?.values.values == ["emma", 1])
      #expect(try await group[number].conflicts().map(\.kind) == [.unique])
    }
    try await group.write(0, "UPDATE book SET word = 'other' WHERE id = 1")
    try await group.exchange()
    for number in 0...1 {
      #expect(
        try await group.rows(number, "SELECT id, shelf FROM book ORDER BY id") == [[1, .null], [2, 1], [3, .null]])
    }
    try await group.expectSame()
  }

  @Test("a new unique index judges alike who has forgotten when a row was written and who has not")
  func forgotten() async throws {
    let group = try await MigrationGroup([1, 1], Self.unique)
    try await group.write(0, "INSERT INTO book VALUES (2, 'Emma', NULL)")
    try await group.write(0, "INSERT INTO book VALUES (1, 'EMMA', NULL)")
    try await group.send(0, to: 1)
    try await group.write(1, "INSERT INTO book VALUES (3, 'momo', NULL)")
    #expect(try await group[1].compact().transactions == 2)
    for number in 0...1 { try await group.update(number, to: 2) }
    for number in 0...1 {
      #expect(try await group.rows(number, "SELECT id FROM book WHERE word = 'emma'") == [[1]])
    }
    try await group.exchange()
    try await group.expectSame()
  }

  @Test("an index whose values a migration made compares keys also among later claims")
  func laterClaims() async throws {
    let group = try await MigrationGroup([2, 2], Self.unique)
    try await group.write(0, "INSERT INTO book VALUES (2, 'emma', NULL)")
    try await group.write(1, "INSERT INTO book VALUES (1, 'emma', NULL)")
    try await group.exchange()
    for number in 0...1 { #expect(try await group.rows(number, "SELECT id FROM book") == [[1]]) }
    try await group.expectSame()
  }

  @Test("a table that is there already with another delete policy is another one")
  func deletePolicy() async throws {
    let folder = try TemporaryFolder()
    func open(_ migrations: Migrations) async throws {
      let replica = try await Replica.open(at: folder.file("replica"), models: [], migrations: migrations)
      await replica.close()
    }
    try await open(Migrations { Migration(1, "one") { CreateTable("note", [NewColumn("id", Int.self)]) } })
    let other = Migrations {
      Migration(1, "one") { CreateTable("note", [NewColumn("id", Int.self)]) }
      Migration(2, "again") { CreateTable("note", [NewColumn("id", Int.self)], deletes: .deleteWins) }
    }
    #expect(await code { try await open(other) } == .invalidMigration)
  }
}
