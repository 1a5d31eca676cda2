import Testing

@testable import Godwit

/// Rows of authors of another version that lack a value which this version needs.
@Suite("Incomplete rows")
struct IncompleteRowTests {
  @MigrationsBuilder private static func shelves() -> [Migration] {
    Migration(1, "books") {
      CreateTable(
        "book", [NewColumn("id", Int.self), NewColumn("shelf", String.self), NewColumn("title", String?.self)])
    }
    Migration(2, "numbers") {
      ChangeColumn("shelf", Int.self, in: "book", by: "CASE WHEN shelf GLOB '[0-9]*' THEN CAST(shelf AS INTEGER) END")
    }
    Migration(3, "titles") { DropColumn("shelf", from: "book") }
  }

  @Test(
    "a row waits for a value that a rule has nothing for, and for no other: it comes with one that is written later")
  func incomplete() async throws {
    let group = try await MigrationGroup([1, 2], Self.shelves)
    try await group.write(0, "INSERT INTO book VALUES (1, 'top', 'Emma')")
    #expect(try await group.send(0, to: 1).quarantined == 1)
    try await group.write(0, "UPDATE book SET title = 'Emma Woodhouse'")
    #expect(try await group.send(0, to: 1).quarantined == 0)
    #expect(try await group.rows(1, "SELECT * FROM book").isEmpty)
    let limbo = try await group[1].limbo()
    #expect(limbo.map(\.values.values) == [[.null, "Emma Woodhouse"]])
    #expect(limbo.first?.holds.map(\.reason) == [.missingValue(columns: ["shelf"])])
    #expect(try await group[1].conflicts().isEmpty)
    try await group.write(0, "UPDATE book SET shelf = '12'")
    try await group.send(0, to: 1)
    #expect(try await group.rows(1, "SELECT * FROM book") == [[1, 12, "Emma Woodhouse"]])
    try await group.update(0, to: 2)
    try await group.write(0, "UPDATE book SET title = 'Emma, a novel'")
    try await group.exchange()
    #expect(try await group.rows(1, "SELECT * FROM book") == [[1, 12, "Emma, a novel"]])
    #expect(try await group[1].limbo().isEmpty)
    try await group.expectSame()
  }

  @Test("what is written to a row that waits for a value is kept, and comes with the migration that needs none")
  func incompleteUntilDropped() async throws {
    let group = try await MigrationGroup([1, 2, 1], Self.shelves)
    try await group.write(0, "INSERT INTO book VALUES (1, '1', 'Emma')")
    try await group.exchange()
    try await group.write(0, "DELETE FROM book")
    try await group.write(0, "INSERT INTO book VALUES (1, 'top', 'Emma')")
    try await group.write(2, "UPDATE book SET title = 'Persuasion'")
    try await group.send(0, to: 1)
    #expect(try await group.rows(1, "SELECT * FROM book").isEmpty)
    try await group.send(2, to: 1)
    #expect(try await group[1].limbo().map(\.key) == [[1]])
    for _ in 0..<2 { try await group.send(1, to: 2) }
    for replica in 0...2 { try await group.update(replica, to: replica == 1 ? 3 : 1) }
    #expect(try await group.rows(1, "SELECT id, title FROM book") == [[1, "Persuasion"]])
    #expect(try await group[1].limbo().isEmpty)
    try await group.exchange()
    try await group.write(0, "UPDATE book SET shelf = '2'")
    try await group.exchange()
    for replica in 0...2 { try await group.update(replica, to: 3) }
    for _ in 0..<2 { try await group.exchange() }
    #expect(try await group.rows(2, "SELECT id, title FROM book") == [[1, "Persuasion"]])
    #expect(try await group[1].status().quarantined == 0)
    try await group.expectSame()
  }

  @Test("a row that takes the key of one that waits for a value tells what it takes the place of")
  func incompleteReplaced() async throws {
    let group = try await MigrationGroup([2, 1], Self.shelves)
    try await group.write(0, "INSERT INTO book VALUES (1, 12, 'Emma')")
    try await group.send(0, to: 1)
    #expect(try await group[1].limbo().map(\.key) == [[1]])
    try await group.write(1, "INSERT INTO book VALUES (1, '7', 'Persuasion')")
    #expect(try await group[1].limbo().isEmpty)
    #expect(try await group[1].conflicts().map(\.losingValues) == [["Emma"]])
    try await group.update(1, to: 2)
    for _ in 0..<2 { try await group.exchange() }
    for replica in 0...1 { #expect(try await group.rows(replica, "SELECT * FROM book") == [[1, 7, "Persuasion"]]) }
    #expect(Set(try await group[1].conflicts().map(\.losingValues)) == [["Emma"], [12]])
    try await group.expectSame()
  }

  @Test(
    "one that became complete is shown, whatever it refers to",
    arguments: [
      "INSERT INTO person VALUES (1, 1, NULL, NULL)", "INSERT INTO person VALUES (1, NULL, 1, NULL)",
      "INSERT INTO person VALUES (1, NULL, NULL, 1)",
    ])
  func complete(insert: String) async throws {
    let group = try await MigrationGroup([1, 1]) {
      Migration(1, "persons") {
        CreateTable(
          "image", [NewColumn("id", Int.self), NewColumn("person", Int.self, references: "person", onDelete: .cascade)])
        CreateTable("shelf", [NewColumn("id", Int.self)])
        CreateTable(
          "person",
          [
            NewColumn("id", Int.self), NewColumn("boss", Int?.self, references: "person"),
            NewColumn("shelf", Int?.self, references: "shelf", onDelete: .setNull),
            NewColumn("cover", Int?.self, references: "image", onDelete: .setNull), NewColumn("code", String.self),
          ])
      }
      Migration(2, "no codes") { DropColumn("code", from: "person") }
    }
    try await group.write(0, "INSERT INTO shelf VALUES (1)")
    try await group.exchange()
    try await group.update(0, to: 2)
    try await group.write(
      0, SQL(text: insert.replacing("NULL, 1)", with: "NULL, NULL)")), "INSERT INTO image VALUES (1, 1)")
    if insert.contains("NULL, 1)") { try await group.write(0, "UPDATE person SET cover = 1") }
    try await group.write(1, "DELETE FROM shelf")
    try await group.exchange()
    #expect(try await group.rows(1, "SELECT id FROM person").isEmpty)
    try await group.update(1, to: 2)
    #expect(try await group.rows(1, "SELECT id FROM person") == [[1]])
    #expect(try await group.rows(1, "SELECT id FROM image") == [[1]])
    try await group.expectSame()
  }

  @Test("an insert whose value waits leaves nothing of what stood there, in any order")
  func inserted() async throws {
    let group = try await MigrationGroup([1, 1, 1]) {
      Migration(1, "books") { CreateTable("book", [NewColumn("id", Int.self), NewColumn("shelf", String.self)]) }
      Migration(2, "shelves") { ChangeColumn("shelf", String.self, in: "book", by: "'s' || shelf") }
    }
    try await group.update(0, to: 2)
    try await group.write(1, "INSERT INTO book VALUES (1, 'x')")
    try await group.send(1, to: 2)
    try await group.write(1, "UPDATE book SET shelf = 'w'")
    try await group.write(0, "INSERT INTO book VALUES (1, 'sy')")
    for (sender, receiver) in [(0, 2), (1, 2), (0, 1)] { try await group.send(sender, to: receiver) }
    for replica in 1...2 { #expect(try await group.rows(replica, "SELECT * FROM book").isEmpty) }
    #expect(try await group[1].digest() == group[2].digest())
    for replica in 1...2 { try await group.update(replica, to: 2) }
    for _ in 0..<2 { try await group.exchange() }
    #expect(try await group.rows(1, "SELECT * FROM book") == [[1, "sy"]])
    #expect(try await group[1].conflicts().map(\.losingValues) == [["sw"]])
    try await group.expectSame()
  }

  @Test("forward, too: of two inserts under one key the value that has no place hides the other, until one is written")
  func refused() async throws {
    let group = try await MigrationGroup([1, 2, 2], Self.shelves)
    try await group.write(2, "INSERT INTO book VALUES (1, 7, NULL)")
    try await group.send(2, to: 1)
    try await group.write(2, "UPDATE book SET shelf = 9")
    try await group.write(0, "INSERT INTO book VALUES (1, 'top', NULL)")
    for (sender, receiver) in [(0, 1), (2, 1), (0, 2)] { try await group.send(sender, to: receiver) }
    #expect(try await group[1].digest() == group[2].digest())
    #expect(try await group.rows(1, "SELECT * FROM book").isEmpty)
    try await group.write(0, "UPDATE book SET shelf = '12'")
    try await group.update(0, to: 2)
    for _ in 0..<2 { try await group.exchange() }
    for replica in 0...2 { #expect(try await group.rows(replica, "SELECT shelf FROM book") == [[12]]) }
    try await group.expectSame()
  }

  @Test("what a deleted row held does not come back with an insert that lacks it")
  func reinserted() async throws {
    let group = try await MigrationGroup([1, 2, 2], Self.shelves)
    try await group.write(0, "INSERT INTO book VALUES (1, '1', 'Old')")
    for _ in 0..<2 { try await group.exchange() }
    try await group.write(0, "DELETE FROM book")
    for _ in 0..<2 { try await group.exchange() }
    try await group[2].compact()
    try await group.write(0, "INSERT INTO book VALUES (1, 'top', 'New')")
    for receiver in 1...2 {
      try await group.send(0, to: receiver)
      #expect(try await group.rows(receiver, "SELECT * FROM book").isEmpty)
    }
    #expect(try await group[1].digest() == group[2].digest())
    #expect(try await group[1].limbo().map(\.values.values) == [[.null, "New"]])
  }

  @Test("a value that waits is listed when it comes and has lost, and no other in its stead")
  func lost() async throws {
    let group = try await MigrationGroup([2, 1, 1]) {
      Migration(1, "books") { CreateTable("book", [NewColumn("id", Int.self), NewColumn("shelf", String.self)]) }
      Migration(2, "shelves") { ChangeColumn("shelf", String.self, in: "book", by: "'s' || shelf") }
    }
    try await group.write(1, "INSERT INTO book VALUES (1, 'x')")
    try await group.send(1, to: 2)
    try await group.write(0, "INSERT INTO book VALUES (1, 'sy'), (2, 'sq')")
    try await group.send(0, to: 1)
    try await group.write(2, "UPDATE book SET shelf = 'z'", "INSERT INTO book VALUES (2, 'r')")
    try await group.send(2, to: 1)
    #expect(try await group.rows(1, "SELECT * FROM book ORDER BY id") == [[1, "z"], [2, "r"]])
    #expect(try await group[1].conflicts().map(\.losingValues) == [["x"]])
    try await group.update(1, to: 2)
    #expect(Set(try await group[1].conflicts().map(\.losingValues)) == [["sx"], ["sy"], ["sq"]])
    try await group.update(2, to: 2)
    for _ in 0..<2 { try await group.exchange() }
    try await group.expectSame()
  }

  @Test(
    "one whose key another takes is listed with all that it held, also when it is older than all that is remembered")
  func replaced() async throws {
    let group = try await MigrationGroup([2, 1]) {
      Migration(1, "books") {
        CreateTable(
          "book", [NewColumn("id", Int.self), NewColumn("code", String.self), NewColumn("title", String?.self)])
      }
      Migration(2, "no codes") { DropColumn("code", from: "book") }
    }
    try await group.write(0, "INSERT INTO book VALUES (1, 'Emma')")
    for _ in 0..<2 { try await group.exchange() }
    #expect(try await group[1].compact().transactions == 1)
    try await group.write(1, "INSERT INTO book VALUES (1, 'c', 'Persuasion')")
    #expect(try await group[1].conflicts().map(\.losingValues) == [["Emma"]])
    #expect(try await group[1].limbo().isEmpty)
    try await group.update(1, to: 2)
    for _ in 0..<2 { try await group.exchange() }
    try await group.expectSame()
  }

  @Test("a default that comes with a migration claims nothing where the values come, too")
  func unclaimed() async throws {
    let group = try await MigrationGroup([2, 1]) {
      Migration(1, "books") {
        CreateTable("book", [NewColumn("id", Int.self), NewColumn("isbn", String.self)], unique: [["isbn"]])
      }
      Migration(2, "upper") { ChangeColumn("isbn", String.self, in: "book", default: "", by: "upper(isbn)") }
    }
    try await group.write(0, "INSERT INTO book VALUES (1, 'A'), (2, 'B'), (3, 'C')")
    try await group.send(0, to: 1)
    try await group.update(1, to: 2)
    #expect(try await group.rows(1, "SELECT isbn FROM book ORDER BY id") == [["A"], ["B"], ["C"]])
    #expect(try await group[1].conflicts().isEmpty)
    try await group.send(1, to: 0)
    try await group.expectSame()
  }

  @Test("one that is deleted and lives again waits as before")
  func revived() async throws {
    let group = try await MigrationGroup([2, 1, 2]) {
      Migration(1, "books") {
        CreateTable(
          "book", [NewColumn("id", Int.self), NewColumn("shelf", String.self), NewColumn("title", String?.self)])
      }
      Migration(2, "shelves") { ChangeColumn("shelf", String.self, in: "book", by: "'s' || shelf") }
    }
    try await group.write(0, "INSERT INTO book VALUES (1, 's', NULL)")
    for receiver in 1...2 { try await group.send(0, to: receiver) }
    try await group.write(0, "DELETE FROM book")
    try await group.write(2, "UPDATE book SET title = 'Emma'")
    for sender in [0, 2] { try await group.send(sender, to: 1) }
    #expect(try await group[1].limbo().map { $0.holds.map(\.reason) } == [[.missingValue(columns: ["shelf"])]])
    #expect(try await group[1].conflicts().allSatisfy { $0.kind == .delete })
    try await group.update(1, to: 2)
    for _ in 0..<2 { try await group.exchange() }
    #expect(try await group.rows(1, "SELECT * FROM book") == [[1, "s", "Emma"]])
    try await group.expectSame()
  }

  @Test(
    "one has what others that had the default have, once a migration gives it: a count, a choice, and a column of two")
  func defaulted() async throws {
    let group = try await MigrationGroup([1, 1, 1]) {
      Migration(1, "books") {
        CreateTable(
          "book",
          [
            NewColumn("id", Int.self), NewColumn("loans", Int.self, merge: .counter),
            NewColumn("best", Int.self, merge: .max),
            NewColumn("shelf", String.self), NewColumn("room", String.self), NewColumn("title", String?.self),
          ])
      }
      Migration(2, "defaults") {
        ChangeColumn("loans", Int.self, in: "book", default: 7)
        ChangeColumn("best", Int.self, in: "book", default: 5)
        ChangeColumn("shelf", String?.self, in: "book", default: "x")
      }
      Migration(3, "fewer") {
        DropColumn("loans", from: "book")
        DropColumn("best", from: "book")
        DropColumn("shelf", from: "book")
        ChangeColumn("room", String.self, in: "book", by: "'r' || room")
      }
    }
    try await group.update(2, to: 3)
    try await group.update(1, to: 2)
    try await group.write(2, "INSERT INTO book VALUES (1, 'r1', 'Emma')")
    for receiver in 0...1 { try await group.send(2, to: receiver) }
    #expect(try await group.rows(1, "SELECT id FROM book").isEmpty)
    try await group.write(1, "INSERT INTO book VALUES (2, 0, 0, 's', 'r', NULL)")
    try await group.send(1, to: 0)
    try await group.update(0, to: 2)
    for replica in 0...1 {
      let limbo = try await group[replica].limbo()
      #expect(limbo.map(\.values.values) == [[7, 5, "x", .null, "Emma"]], "on \(replica)")
    }
    #expect(try await group[0].digest() == group[1].digest())
    for replica in 0...1 { try await group.update(replica, to: 3) }
    for _ in 0..<2 { try await group.exchange() }
    #expect(try await group.rows(0, "SELECT * FROM book ORDER BY id") == [[1, "r1", "Emma"], [2, "rr", .null]])
    try await group.expectSame()
  }

  @Test("what is added to a count that it lacks is there with the count")
  func counted() async throws {
    let group = try await MigrationGroup([1, 2, 3]) {
      Migration(1, "books") {
        CreateTable("book", [NewColumn("id", Int.self), NewColumn("loans", Int.self, merge: .counter)])
      }
      Migration(2, "default") { ChangeColumn("loans", Int.self, in: "book", default: 7) }
      Migration(3, "none") { DropColumn("loans", from: "book") }
    }
    try await group.write(2, "INSERT INTO book VALUES (1)")
    for receiver in 0...1 { try await group.send(2, to: receiver) }
    try await group.write(1, "UPDATE book SET loans = loans + 1")
    try await group.send(1, to: 0)
    #expect(try await group.rows(0, "SELECT * FROM book").isEmpty)
    try await group.update(0, to: 2)
    for replica in 0...1 { #expect(try await group.rows(replica, "SELECT loans FROM book") == [[8]]) }
    #expect(try await group[0].digest() == group[1].digest())
  }

  @Test("what stands for a value that no rule takes is the same wherever it came, whatever migrations come after")
  func laterConversion() async throws {
    let group = try await MigrationGroup([1, 2, 1, 1]) {
      Self.shelves()[0]
      Self.shelves()[1]
      Migration(3, "a default") { ChangeColumn("shelf", Int.self, in: "book", default: 5) }
      Migration(4, "more") { ChangeColumn("shelf", Int.self, in: "book", default: 9, by: "shelf + 100") }
    }
    try await group.update(3, to: 4)
    try await group.write(0, "INSERT INTO book VALUES (1, 'top', 'Emma')")
    try await group.send(0, to: 1)
    try await group.update(1, to: 3)
    #expect(try await group.rows(1, "SELECT shelf FROM book") == [[5]])
    try await group.update(2, to: 3)
    try await group.send(0, to: 2)
    #expect(try await group.rows(2, "SELECT shelf FROM book") == [[5]])
    for replica in 1...2 { try await group.update(replica, to: 4) }
    try await group.send(0, to: 3)
    for replica in 1...3 { #expect(try await group.rows(replica, "SELECT shelf FROM book") == [[105]]) }
    #expect(try await group[1].digest() == group[3].digest())
  }

  @Test("a NULL that was written where NULL is allowed since is not taken for a value that lacks")
  func writtenNull() async throws {
    let group = try await MigrationGroup([1, 2]) {
      Self.shelves()[0]
      Migration(2, "optional") { ChangeColumn("shelf", String?.self, in: "book", default: "hall") }
    }
    try await group.write(1, "INSERT INTO book VALUES (1, NULL, 'Emma')")
    try await group.send(1, to: 0)
    #expect(try await group.rows(0, "SELECT * FROM book").isEmpty)
    try await group.update(0, to: 2)
    #expect(try await group.rows(0, "SELECT * FROM book") == [[1, .null, "Emma"]])
    try await group.expectSame()
  }
}
