import Testing

@testable import Godwit

/// What stands for values that wait for a schema is nobody's write: it is listed nowhere, and gives way to what a migration gives.
@Suite("Stand-ins for values that wait")
struct StandInTests {
  @MigrationsBuilder private static func titles() -> [Migration] {
    Migration(1, "books") {
      CreateTable("book", [NewColumn("id", Int.self), NewColumn("title", String?.self)])
    }
    Migration(2, "loud") { ChangeColumn("title", String?.self, in: "book", by: "upper(title)") }
  }

  @Test("a row that another late value shows has the default, too")
  func releasedWithDefault() async throws {
    let group = try await MigrationGroup([1, 2, 2]) {
      Migration(1, "books") {
        CreateTable(
          "book", [NewColumn("id", Int.self), NewColumn("shelf", String.self), NewColumn("room", String.self)])
      }
      Migration(2, "numbers") {
        ChangeColumn("shelf", Int.self, in: "book", by: "CASE WHEN shelf GLOB '[0-9]*' THEN CAST(shelf AS INTEGER) END")
      }
      Migration(3, "optional") {
        ChangeColumn("shelf", Int?.self, in: "book", default: 5)
        ChangeColumn("room", String.self, in: "book", by: "'r' || room")
      }
    }
    try await group.update(2, to: 3)
    try await group.write(0, "INSERT INTO book VALUES (1, 'top', 'x')")
    for receiver in 1...2 { try await group.send(0, to: receiver) }
    try await group.write(2, "UPDATE book SET room = 'y'")
    try await group.send(2, to: 1)
    try await group.update(1, to: 3)
    for replica in 1...2 { #expect(try await group.rows(replica, "SELECT * FROM book") == [[1, 5, "y"]]) }
    #expect(try await group[1].digest() == group[2].digest())
  }

  @Test(
    "where deletes win, a row without any column that is known here is listed as a whole", arguments: [true, false])
  func lostWhole(isDeletedFirst: Bool) async throws {
    let group = try await MigrationGroup([1, 1, 2]) {
      Migration(1, "books") {
        CreateTable("book", [NewColumn("id", Int.self), NewColumn("shelf", String.self)], deletes: .deleteWins)
      }
      Migration(2, "no shelves") {
        DropColumn("shelf", from: "book")
        CreateTable("tag", [NewColumn("id", Int.self)])
      }
    }
    try await group.write(1, "INSERT INTO book VALUES (1, 'a')")
    for receiver in [0, 2] { try await group.send(1, to: receiver) }
    try await group.write(1, "DELETE FROM book")
    try await group.write(2, "DELETE FROM book")
    try await group.write(2, "INSERT INTO book VALUES (1)", "INSERT INTO tag VALUES (1)")
    for sender in isDeletedFirst ? [1, 2] : [2, 1] { try await group.send(sender, to: 0) }
    #expect(try await group.rows(0, "SELECT * FROM book").isEmpty)
    let listed = try await group[0].conflicts()
    #expect(listed.map(\.kind) == [.edit])
    #expect(listed.map(\.columns) == [[]])
  }

  @Test("what lost to another value is not listed as a row that was deleted")
  func deletedLater() async throws {
    let group = try await MigrationGroup([1, 1, 2, 1]) {
      Migration(1, "books") {
        CreateTable(
          "book", [NewColumn("id", Int.self), NewColumn("shelf", String.self), NewColumn("title", String.self)],
          deletes: .deleteWins)
      }
      Migration(2, "no shelves") { DropColumn("shelf", from: "book") }
    }
    try await group.write(2, "INSERT INTO book VALUES (1, 'T')")
    try await group.write(1, "INSERT INTO book VALUES (1, 'a', 'T')")
    for sender in 1...2 { try await group.send(sender, to: 3) }
    try await group.write(3, "DELETE FROM book")
    try await group.send(3, to: 0)
    #expect(try await group[0].conflicts().isEmpty)
  }

  @Test("of two values that waited for one cell the other's is what each is compared with", arguments: ["V", "W"])
  func bothWaited(second: String) async throws {
    let group = try await MigrationGroup([1, 2, 2], Self.titles)
    try await group.write(1, "INSERT INTO book VALUES (1, 'V')")
    try await group.write(2, SQL(text: "INSERT INTO book VALUES (1, '\(second)')"))
    for sender in 1...2 { try await group.send(sender, to: 0) }
    try await group.update(0, to: 2)
    #expect(try await group.rows(0, "SELECT title FROM book") == [[.text(second)]])
    let listed = try await group[0].conflicts()
    #expect(listed.map(\.losingValues) == (second == "V" ? [] : [["V"]]))
    #expect(listed.map(\.winningValues) == (second == "V" ? [] : [["W"]]))
  }

  @Test("one that later rules have converted is listed no more than any other")
  func converted() async throws {
    let group = try await MigrationGroup([1, 3, 1]) {
      Migration(1, "books") { CreateTable("book", [NewColumn("id", Int.self), NewColumn("shelf", String.self)]) }
      Migration(2, "numbers") {
        ChangeColumn("shelf", Int.self, in: "book", by: "CASE WHEN shelf GLOB '[0-9]*' THEN CAST(shelf AS INTEGER) END")
      }
      Migration(3, "more") {
        ChangeColumn("shelf", Int.self, in: "book", default: 5)
        ChangeColumn("shelf", Int.self, in: "book", default: 9, by: "shelf + 100")
      }
    }
    try await group.update(2, to: 3)
    try await group.write(0, "INSERT INTO book VALUES (1, 'top')")
    try await group.write(1, "INSERT INTO book VALUES (1, 3)")
    for sender in 0...1 { try await group.send(sender, to: 2) }
    #expect(try await group.rows(2, "SELECT shelf FROM book") == [[3]])
    #expect(try await group[2].conflicts().isEmpty)
  }

  @Test("rows that became complete together refer to each other without a conflict")
  func completeTogether() async throws {
    let group = try await MigrationGroup([1, 2]) {
      Migration(1, "books") {
        CreateTable("person", [NewColumn("id", Int.self), NewColumn("code", String.self)])
        CreateTable(
          "book",
          [
            NewColumn("id", Int.self), NewColumn("author", Int?.self, references: "person"),
            NewColumn("code", String.self),
          ])
      }
      Migration(2, "no codes") {
        DropColumn("code", from: "person")
        DropColumn("code", from: "book")
      }
    }
    try await group.write(1, "INSERT INTO person VALUES (1)", "INSERT INTO book VALUES (1, 1)")
    try await group.send(1, to: 0)
    #expect(try await group[0].limbo().count == 2)
    try await group.update(0, to: 2)
    #expect(try await group.rows(0, "SELECT * FROM book") == [[1, 1]])
    #expect(try await group[0].conflicts().isEmpty)
    try await group.expectSame()
  }

  @Test("what stands for a value that waits is never listed in its stead", arguments: [true, false])
  func standIn(isDeleted: Bool) async throws {
    let group = try await MigrationGroup([1, 1, 2], Self.titles)
    try await group.write(2, "INSERT INTO book VALUES (1, 'V')")
    try await group.write(1, "INSERT INTO book VALUES (1, 'w')")
    for sender in 1...2 { try await group.send(sender, to: 0) }
    #expect(try await group.rows(0, "SELECT title FROM book") == [["w"]])
    if isDeleted { try await group.write(0, "DELETE FROM book") }
    try await group.update(0, to: 2)
    #expect(try await group[0].conflicts().map(\.losingValues) == [["V"]])
  }

  @Test("a default that its author wrote is listed, whatever else of the transaction waits")
  func writtenDefault() async throws {
    let group = try await MigrationGroup([1, 1, 2]) {
      Migration(1, "books") { CreateTable("book", [NewColumn("id", Int.self), NewColumn("title", String?.self)]) }
      Migration(2, "pages") { AddColumn("pages", Int.self, default: 0, to: "book") }
    }
    try await group.write(2, "INSERT INTO book VALUES (1, NULL, 7)")
    try await group.write(1, "INSERT INTO book VALUES (1, 'Emma')")
    for sender in 1...2 { try await group.send(sender, to: 0) }
    #expect(try await group.rows(0, "SELECT title FROM book") == [["Emma"]])
    #expect(try await group[0].conflicts().map(\.losingValues) == [[.null]])
  }

  @Test("a NULL that the rule makes of what was written is no value that lacks")
  func madeNull() async throws {
    let group = try await MigrationGroup([1, 2, 3]) {
      Migration(1, "books") {
        CreateTable(
          "book", [NewColumn("id", Int.self), NewColumn("shelf", String.self), NewColumn("room", String.self)])
      }
      Migration(2, "rooms") {
        ChangeColumn("room", Int.self, in: "book", by: "CASE WHEN room GLOB '[0-9]*' THEN CAST(room AS INTEGER) END")
      }
      Migration(3, "shelves") {
        ChangeColumn(
          "shelf", Int?.self, in: "book", default: 5,
          by: "CASE WHEN shelf GLOB '[0-9]*' THEN CAST(shelf AS INTEGER) END")
      }
      Migration(4, "no rooms") { DropColumn("room", from: "book") }
    }
    try await group.write(0, "INSERT INTO book VALUES (1, 'top', 'x')")
    for receiver in 1...2 { try await group.send(0, to: receiver) }
    try await group.update(1, to: 3)
    for replica in 1...2 { try await group.update(replica, to: 4) }
    for replica in 1...2 { #expect(try await group.rows(replica, "SELECT * FROM book") == [[1, .null]]) }
    #expect(try await group[1].digest() == group[2].digest())
  }

  @Test("what a rule has nothing for in a row in limbo is among the migration's losses")
  func refusedInLimbo() async throws {
    let group = try await MigrationGroup([1, 1]) {
      Migration(1, "books") {
        CreateTable(
          "book", [NewColumn("id", Int.self), NewColumn("isbn", String.self), NewColumn("shelf", String.self)],
          unique: [["isbn"]])
      }
      Migration(2, "numbers") {
        ChangeColumn("shelf", Int.self, in: "book", by: "CASE WHEN shelf GLOB '[0-9]*' THEN CAST(shelf AS INTEGER) END")
      }
    }
    try await group.write(0, "INSERT INTO book VALUES (1, 'a', '1')")
    try await group.write(1, "INSERT INTO book VALUES (2, 'a', 'top')")
    try await group.send(1, to: 0)
    try await group.update(0, to: 2)
    #expect(try await group[0].migrationLosses().map(\.value) == ["top"])
    #expect(try await group[0].limbo().first?.holds.map(\.reason).contains(.missingValue(columns: ["shelf"])) == true)
  }

  @Test(
    "what is made of a masked reference is made of what it stands for, and the mask stays one of the reference alone")
  func derivedFromMask() async throws {
    let group = try await MigrationGroup([1, 1, 2]) {
      Migration(1, "loans") {
        CreateTable("book", [NewColumn("id", String.self)])
        CreateTable(
          "loan", [NewColumn("id", Int.self), NewColumn("book", String?.self, references: "book", onDelete: .setNull)])
      }
      Migration(2, "labels") {
        AddColumn("label", String.self, from: "book", by: "'x' || book", default: "none", to: "loan")
      }
    }
    try await group.write(0, "INSERT INTO book VALUES ('b1')")
    for receiver in 1...2 { try await group.send(0, to: receiver) }
    try await group.write(1, "DELETE FROM book")
    try await group.write(0, "INSERT INTO loan VALUES (1, 'b1')")
    for (sender, receiver) in [(1, 0), (0, 1), (0, 2), (1, 2)] { try await group.send(sender, to: receiver) }
    #expect(try await group.rows(1, "SELECT book FROM loan") == [[.null]])
    for replica in 0...1 { try await group.update(replica, to: 2) }
    for replica in 0...2 { #expect(try await group.rows(replica, "SELECT book, label FROM loan") == [[.null, "xb1"]]) }
    try await group.write(2, "INSERT INTO book VALUES ('b1')")
    try await group.exchange()
    #expect(try await group.rows(1, "SELECT book, label FROM loan") == [["b1", "xb1"]])
    try await group.expectSame()
  }

  @Test("what comes with a migration may refer to a row that the migration makes whole")
  func releasedWithParent() async throws {
    let group = try await MigrationGroup([1, 2]) {
      Migration(1, "persons") { CreateTable("person", [NewColumn("id", Int.self), NewColumn("code", String.self)]) }
      Migration(2, "books") {
        DropColumn("code", from: "person")
        CreateTable(
          "book", [NewColumn("id", Int.self), NewColumn("author", Int?.self, references: "person", onDelete: .setNull)])
      }
    }
    try await group.write(1, "INSERT INTO person VALUES (1)", "INSERT INTO book VALUES (1, 1)")
    try await group.send(1, to: 0)
    try await group.update(0, to: 2)
    #expect(try await group.rows(0, "SELECT * FROM book") == [[1, 1]])
    #expect(try await group[0].conflicts().isEmpty)
    try await group.expectSame()
  }

  @Test("a row that takes the key of one in limbo lists nothing that stood for what waits")
  func replacedStandIn() async throws {
    let group = try await MigrationGroup([1, 2]) {
      Migration(1, "books") {
        CreateTable(
          "book",
          [NewColumn("id", Int.self), NewColumn("code", String.self), NewColumn("shelf", String.self, default: "hall")])
      }
      Migration(2, "fewer") {
        DropColumn("code", from: "book")
        ChangeColumn("shelf", String.self, in: "book", default: "HALL", by: "upper(shelf)")
      }
    }
    try await group.write(1, "INSERT INTO book VALUES (1, 'A')")
    try await group.send(1, to: 0)
    try await group.write(0, "INSERT INTO book VALUES (1, 'c', 'z')")
    #expect(try await group[0].conflicts().isEmpty)
    try await group.update(0, to: 2)
    #expect(try await group[0].conflicts().map(\.losingValues) == [["A"]])
  }
}
