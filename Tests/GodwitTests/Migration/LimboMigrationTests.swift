import Godwit
import Testing

@testable import Godwit
@testable import GodwitEngine

@Suite("Rows in limbo and migrations")
struct LimboMigrationTests {
  @Migrations.Builder private static func accounts() -> [Migration] {
    Migration(1, "accounts") {
      $0.create("account") {
        $0.column("id", Int.self)
        $0.column("login", String.self)
        $0.column("plan", String.self, default: "")
        $0.index("login", unique: true)
      }
    }
    Migration(2, "not unique") { $0.alter("account") { $0.dropIndex("login") } }
  }

  @Migrations.Builder private static func rebuilt() -> [Migration] {
    accounts()[0]
    Migration(2, "not unique") {
      $0.alter("account") {
        $0.dropIndex("login")
        $0.drop("plan")
      }
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

  @Migrations.Builder private static func unique() -> [Migration] {
    Migration(1, "notes") {
      $0.create("shelf") { $0.column("id", Int.self) }
      $0.create("book") {
        $0.column("id", Int.self)
        $0.column("word", String.self, default: "")
        $0.column("shelf", Int?.self, references: "shelf", onDelete: .setNull)
      }
    }
    Migration(2, "one of each") {
      $0.alter("book") {
        $0.change("word", String.self, default: "", by: "lower(word)")
        $0.addIndex("word", unique: true)
        $0.addIndex("shelf", unique: true)
      }
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
      let waiting = try await group[number].history.limbo()
      #expect(waiting.map(\.key) == [[2]] && waiting.first?.values.values == ["emma", 1])
      #expect(try await group[number].conflicts.list().map(\.kind) == [.unique])
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
    #expect(try await group[1].maintenance.compact().transactions == 2)
    for number in 0...1 { try await group.update(number, to: 2) }
    for number in 0...1 {
      #expect(try await group.rows(number, "SELECT id FROM book WHERE word = 'emma'") == [[1]])
    }
    try await group.exchange()
    try await group.expectSame()
  }

  @Migrations.Builder private static func guests() -> [Migration] {
    Migration(1, "guests") {
      $0.create("guest") {
        $0.column("id", String.self)
        $0.column("name", String.self)
        $0.column("room", String.self)
        $0.index("name", unique: true)
      }
    }
    Migration(2, "rooms") { $0.alter("guest") { $0.addIndex("room", unique: true) } }
  }

  @Test("of several rows that a new unique index finds equal to one that waits for another reason, none stays")
  func severalEqual() async throws {
    let group = try await MigrationGroup([1, 1], Self.guests)
    try await group.write(0, "INSERT INTO guest VALUES ('a', 'n', 'r9')")
    try await group.write(1, "INSERT INTO guest VALUES ('b', 'n', 'r1')")
    try await group.write(1, "INSERT INTO guest VALUES ('c', 'n2', 'r1'), ('d', 'n3', 'r1')")
    try await group.send(1, to: 0)
    try await group.update(0, to: 2)
    try await group.update(1, to: 2)
    for _ in 0..<2 { try await group.exchange() }
    for number in 0...1 { #expect(try await group.rows(number, "SELECT id FROM guest") == [["a"]]) }
    try await group.expectSame()
  }

  @Migrations.Builder private static func stopped() -> [Migration] {
    accounts()[0]
    Migration(2, "apart") { $0.stopSync(of: "account") }
  }

  @Test("rows that wait in a table that stops to travel are listed, whole")
  func stopsToTravel() async throws {
    let group = try await contested { Self.stopped() }
    try await group.update(0, to: 2)
    #expect(try await group.rows(0, "SELECT id FROM account") == [[1]])
    #expect(try await group[0].status().limbo == 0)
    let lost = try await group[0].conflicts.list().first { $0.kind == .constraint }
    #expect(lost?.key == [2] && lost?.columns == ["login", "plan"] && lost?.losingValues == ["x", ""])
  }

  @Migrations.Builder private static func marked() -> [Migration] {
    Migration(1, "marks") {
      $0.create("book") { $0.column("id", Int.self) }
      $0.create("mark", sync: .local) {
        $0.column("id", Int.self)
        $0.column("book", Int?.self, references: "book", onDelete: .cascade)
      }
    }
    Migration(2, "together") { $0.startSync(of: "mark") }
  }

  @Test("rows of a table that starts to travel wait for what has been deleted meanwhile")
  func startsToTravel() async throws {
    let group = try await MigrationGroup([1, 1], Self.marked)
    try await group.write(0, "INSERT INTO book VALUES (1), (2)")
    try await group.exchange()
    try await group.write(0, "INSERT INTO mark VALUES (1, 1), (2, 2)")
    try await group.update(1, to: 2)
    try await group.write(1, "DELETE FROM book WHERE id = 1")
    #expect(try await group.send(1, to: 0).heldCount == 1)
    try await group.update(0, to: 2)
    #expect(try await group.rows(0, "SELECT id FROM mark") == [[2]])
    #expect(try await group[0].history.limbo().map(\.key) == [[1]])
    try await group.exchange()
    try await group.expectSame()
  }

  @Migrations.Builder private static func lent() -> [Migration] {
    Migration(1, "books") {
      $0.create("reader") { $0.column("id", Int.self) }
      $0.create("book") {
        $0.column("id", Int.self)
        $0.column("reader", Int?.self, references: "reader", onDelete: .setNull)
      }
    }
    Migration(2, "unread") { $0.alter("book") { $0.drop("reader") } }
  }

  @Migrations.Builder private static func lentApart() -> [Migration] {
    lent()[0]
    Migration(2, "apart") { $0.stopSync(of: "book") }
  }

  @Test("a hidden reference in a table that stops to travel is listed")
  func hiddenInStopped() async throws {
    let group = try await MigrationGroup([1, 1], Self.lentApart)
    try await group.write(0, "INSERT INTO reader VALUES (1)")
    try await group.exchange()
    try await group.write(0, "DELETE FROM reader")
    try await group.write(1, "INSERT INTO book VALUES (1, 1)")
    try await group.exchange()
    try await group[0].conflicts.prune(keeping: 0)
    try await group.update(0, to: 2)
    #expect(try await group.rows(0, "SELECT id, reader FROM book") == [[1, .null]])
    let lost = try await group[0].conflicts.list().first { $0.kind == .reference && $0.columns == ["reader"] }
    #expect(lost?.key == [1] && lost?.losingValues == [1])
  }

  @Test("a hidden reference that is dropped leaves nothing that waits")
  func droppedReference() async throws {
    let group = try await MigrationGroup([1, 1], Self.lent)
    try await group.write(0, "INSERT INTO reader VALUES (1)")
    try await group.exchange()
    try await group.write(0, "DELETE FROM reader")
    try await group.write(1, "INSERT INTO book VALUES (1, 1)")
    try await group.exchange()
    #expect(try await group[0].status().limbo == 1)
    for number in 0...1 {
      try await group.update(number, to: 2)
      #expect(try await group[number].status().limbo == 0)
    }
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
      let replica = try await Replica.open(
        at: folder.file("replica"), models: [], configuration: .init(migrations: migrations))
      await replica.close()
    }
    try await open(Migrations { Migration(1, "one") { $0.create("note") { $0.column("id", Int.self) } } })
    let other = Migrations {
      Migration(1, "one") { $0.create("note") { $0.column("id", Int.self) } }
      Migration(2, "again") { $0.create("note", deletes: .deleteWins) { $0.column("id", Int.self) } }
    }
    #expect(await code { try await open(other) } == .invalidMigration)
  }
}
