import Godwit
import Testing

@Suite("Rows in limbo and migrations")
struct LimboMigrationTests {
  @MigrationsBuilder private static func accounts() -> [Migration] {
    Migration(1, "accounts") {
      CreateTable(
        "account", [NewColumn("id", Int.self), NewColumn("login", String.self), NewColumn("plan", String.self, default: "")],
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
