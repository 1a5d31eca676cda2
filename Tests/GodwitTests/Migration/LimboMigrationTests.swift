import Godwit
import Testing

@testable import Godwit

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

  @MigrationsBuilder private static func loans() -> [Migration] {
    Migration(1, "loans") {
      CreateTable("shelf", [NewColumn("id", Int.self)])
      CreateTable(
        "book",
        [
          NewColumn("id", Int.self), NewColumn("shelf", Int.self, references: "shelf"), NewColumn("isbn", String.self),
          NewColumn("code", String.self),
        ], unique: [["isbn"]])
    }
    Migration(2, "no codes") { DropColumn("code", from: "book") }
  }

  @Test("a row that lacked a value is shown when none is needed any more, with what it claims and refers to")
  func complete() async throws {
    let group = try await MigrationGroup([2, 1], Self.loans)
    try await group.write(0, "INSERT INTO shelf VALUES (1)", "INSERT INTO book VALUES (1, 1, 'x'), (2, 1, 'y')")
    #expect(try await group.send(0, to: 1).quarantined == 1)
    #expect(try await group.rows(1, "SELECT id FROM book").isEmpty)
    #expect(try await group[1].status().limbo == 2)
    #expect(try await group[1].conflicts().isEmpty)
    try await group.write(1, "INSERT INTO book VALUES (3, 1, 'y', 'c3'), (4, 1, 'z', 'c4')")
    #expect(try await group.rows(1, "SELECT id FROM book ORDER BY id") == [[3], [4]])
    try await group.update(1, to: 2)
    for _ in 0..<2 { try await group.exchange() }
    for replica in 0...1 {
      #expect(
        try await group.rows(replica, "SELECT id, isbn FROM book ORDER BY id") == [[1, "x"], [2, "y"], [4, "z"]])
    }
    try await group.expectSame()
  }

  @Test("who joins by a snapshot holds back the same rows, and shows them with the same migration")
  func incompleteSnapshot() async throws {
    let group = try await MigrationGroup([2, 1]) {
      Migration(1, "books") { CreateTable("book", [NewColumn("id", Int.self), NewColumn("shelf", Int.self)]) }
      Migration(2, "names") { ChangeColumn("shelf", String.self, in: "book", by: "'s' || shelf") }
    }
    try await group.write(1, "INSERT INTO book VALUES (1, 1)")
    for _ in 0..<2 { try await group.exchange() }
    #expect(try await group[1].compact().transactions == 1)
    try await group.write(0, "INSERT INTO book VALUES (2, 's2')")
    try await group.send(0, to: 1)
    let (path, file) = (group.folder.file("later"), group.folder.file("file"))
    try await group[1].invite(
      Replica.identity(at: path), name: "later", verification: .trustOnFirstUse, to: .file(file))
    await (try Replica.join(at: path, invitation: .file(file), inviter: .trustOnFirstUse)).close()
    func open(_ version: Int) async throws -> Replica {
      try await ReplicaPair.open(path, [], group.clock, migrations: group.migrations(version))
    }
    var later = try await open(1)
    _ = try await group[1].snapshot(to: .file(file))
    #expect(try await later.import(from: .file(file)).isSnapshot)
    let reasons: [LimboRow.Reason] = [.missingValue(columns: ["shelf"])]
    #expect(try await later.limbo().map { $0.holds.map(\.reason) } == [reasons])
    #expect(try await later.status().quarantined == 1)
    await later.close()
    later = try await open(2)
    try await group.update(1, to: 2)
    for replica in [later, group[1]] {
      #expect(try await replica.rows("SELECT id, shelf FROM book").map(\.values) == [[1, "s1"], [2, "s2"]])
      #expect(try await replica.digest() == group[0].digest())
    }
    await later.close()
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
