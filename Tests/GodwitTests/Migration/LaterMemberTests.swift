import Foundation
import Godwit
import GodwitModel
import Testing

@testable import Godwit
@testable import GodwitEngine

private struct OldBook: Model {
  static let schema = Schema<Self>("book", sync: .local) { Column("title", \.title) }
  var id = 0
  var title = ""
}

private struct OldLoan: Model {
  static let schema = Schema<Self>("loan", sync: .local) { Column("book", \.book) }
  var id = 0
  var book = 0
}

/// Members that come after migrations have altered tables that no migration made.
@Suite("A later member")
struct LaterMemberTests {
  private let folder: TemporaryFolder
  private let clock = TestClock()

  private static let altering = Migration(1, "books") {
    $0.alter("book") { $0.add("stars", Int.self, default: 3) }
    $0.rename("book", to: "volume")
    $0.alter("volume") {
      $0.rename("title", to: "name")
      $0.add("slug", String.self, from: "name", by: "lower(name)", default: "")
    }
    $0.startSync(of: "loan")
    $0.create("tag") {
      $0.column("id", Int.self)
      $0.column("text", String.self, default: "")
    }
    $0.create("draft", sync: .local) { $0.column("id", Int.self) }
    $0.rename("draft", to: "sketch")
  }

  init() throws { folder = try TemporaryFolder() }

  private func path(_ name: String) -> String { folder.file(name) }

  private func open(_ name: String, _ models: [any Model.Type] = []) async throws -> Replica {
    try await ReplicaPair.open(path(name), models, clock)
  }

  private func join(_ name: String, _ inviter: Replica) async throws -> Replica {
    let identity = try await Replica.identity(at: path(name))
    let invitation = folder.file("invitation")
    try await inviter.members.invite(identity, name: name, verification: .trustOnFirstUse, to: .file(invitation))
    await (try Replica.join(at: path(name), invitation: .file(invitation), inviter: .trustOnFirstUse)).close()
    return try await open(name)
  }

  @discardableResult
  private func carry(_ sender: Replica, _ receiver: Replica) async throws -> MergeReport {
    clock.advance(10)
    let file = folder.file(UUID().uuidString)
    _ = try await sender.export(to: .file(file), includesAll: true)
    return try await receiver.import(from: .file(file))
  }

  private func write(_ replica: Replica, _ sql: SQL) async throws {
    clock.advance(10)
    try await replica.write { _ = try $0.execute(sql) }
  }

  private func rows(_ replica: Replica) async throws -> [[Value]] {
    try await replica.rows("SELECT id, name, stars, slug FROM volume ORDER BY id").map(\.values)
  }

  @Test(
    "that comes late to two versions applies what waited, and says how far it is", arguments: [false, true])
  func progress(isOpening: Bool) async throws {
    let first = try await open("first", [OldBook.self, OldLoan.self])
    try await write(first, "INSERT INTO book (id, title) VALUES (1, 'One')")
    try await first.tables.startSync(of: "book")
    let older = try await join("older", first)
    try await carry(first, older)
    let versions = [
      Migration(1, "names") { $0.alter("book") { $0.rename("title", to: "name") } },
      Migration(2, "titles") { $0.alter("book") { $0.rename("name", to: "caption") } },
    ]
    try await first.migrations.run(Migrations(Array(versions.prefix(1))))
    for number in 1...50 { try await write(first, "UPDATE book SET name = \("\(number)") WHERE id = 1") }
    try await first.migrations.run(Migrations(versions))
    for number in 51...100 { try await write(first, "UPDATE book SET caption = \("\(number)") WHERE id = 1") }
    #expect(try await carry(first, older).heldCount == 100)
    let heard = Heard()
    if isOpening {
      await older.close()
      let configuration = Replica.Configuration(migrations: Migrations(versions), migrationProgress: heard.hear)
      let opened = try await Replica.open(at: path("older"), configuration: configuration)
      #expect(try await opened.rows("SELECT caption FROM book").map(\.values) == [["100"]])
      await opened.close()
    } else {
      try await older.migrations.run(Migrations(versions), progress: heard.hear)
      #expect(try await older.rows("SELECT caption FROM book").map(\.values) == [["100"]])
    }
    let values = heard.values.withLock { $0 }
    #expect(values.last == 1 && values.contains(0.5) && values == values.sorted(), "\(values)")
  }

  @Test("takes tables that no migration made as migrations have left them, and goes through the next ones")
  func enters() async throws {
    let first = try await open("first", [OldBook.self, OldLoan.self])
    try await write(first, "INSERT INTO book (id, title) VALUES (1, 'One'), (2, 'Two')")
    try await write(first, "INSERT INTO loan (id, book) VALUES (7, 1)")
    try await first.tables.startSync(of: "book")
    let older = try await join("older", first)
    try await carry(first, older)
    try await carry(older, first)
    try await write(older, "UPDATE book SET title = 'TWO' WHERE id = 2")
    try await write(older, "INSERT INTO book (id, title) VALUES (3, 'Three')")

    let migrations = Migrations([Self.altering])
    try await first.migrations.run(migrations)
    try await write(first, "UPDATE volume SET stars = 5 WHERE id = 1")

    let later = try await join("later", first)
    let report = try await carry(first, later)
    #expect(report.heldCount == 0 && report.waiting.transactions == 0)
    #expect(try await later.migrations.status().version == 1)
    #expect(try await rows(later) == [[1, "One", 5, "one"], [2, "Two", 3, "two"]])
    #expect(try await later.rows("SELECT id, book FROM loan").map(\.values) == [[7, 1]])
    // The tables that the migration made are there, and the local ones empty.
    #expect(try await later.rows("SELECT count(*) FROM tag").map(\.values) == [[0]])
    #expect(try await later.rows("SELECT count(*) FROM sketch").map(\.values) == [[0]])
    #expect(try await later.maintenance.digest() == first.maintenance.digest())

    // What a member wrote before the migration comes to it in the terms of its tables.
    #expect(try await carry(first, older).heldCount > 0)
    for receiver in [first, later] { #expect(try await carry(older, receiver).heldCount == 0) }
    #expect(try await rows(later) == [[1, "One", 5, "one"], [2, "TWO", 3, "two"], [3, "Three", 3, "three"]])

    // Its steps continue from there.
    let next = Migrations([
      Self.altering,
      Migration(2, "shorter") {
        $0.alter("volume") {
          $0.drop("stars")
          $0.add("shelf", Int?.self)
        }
        $0.rename("sketch", to: "draft")
      },
    ])
    try await write(later, "UPDATE volume SET name = 'Uno' WHERE id = 1")
    for replica in [first, later] { try await replica.migrations.run(next) }
    try await write(older, "INSERT INTO book (id, title) VALUES (4, 'Four')")
    let fresh = try await join("fresh", later)
    for receiver in [first, older] { try await carry(later, receiver) }
    for sender in [later, older, first] { try await carry(sender, fresh) }
    for (sender, receiver) in [(older, first), (first, later)] { try await carry(sender, receiver) }
    #expect(try await fresh.migrations.status().version == 2)
    #expect(
      try await Set([first.maintenance.digest(), later.maintenance.digest(), fresh.maintenance.digest()]).count == 1)
    let names = try await fresh.rows("SELECT name FROM volume ORDER BY id").map { $0.values[0] }
    #expect(names == ["Uno", "TWO", "Three", "Four"])
    for replica in [first, older, later, fresh] { #expect(try await replica.maintenance.verify().problems == []) }
  }

  @Test("takes local tables that refer to one which has another name by now")
  func renamedReference() async throws {
    let first = try await open("first", [OldBook.self])
    try await first.tables.startSync(of: "book")
    try await first.migrations.run(
      Migrations([
        Migration(1, "slips") {
          $0.create("slip", sync: .local) {
            $0.column("id", Int.self)
            $0.column("book", Int?.self, references: "book")
          }
          $0.rename("book", to: "volume")
        }
      ]))
    let later = try await join("later", first)
    try await carry(first, later)
    for replica in [first, later] {
      let sql = try await replica.rows("SELECT sql FROM sqlite_master WHERE name = 'slip'").map(\.values)
      guard case .text(let text)? = sql.first?.first else { return #expect(Bool(false), "there is no slip") }
      #expect(text.contains("REFERENCES \"volume\""))
    }
  }

  @Test("whose program starts with migrations of tables that it does not have yet is refused, with what to do first")
  func programFirst() async throws {
    let first = try await open("first", [OldBook.self])
    try await first.tables.startSync(of: "book")
    let later = try await join("later", first)
    let failure = await error { try await later.migrations.run(Migrations([Self.altering])) }
    #expect(failure?.code == .invalidMigration && failure?.message.contains("there is no table book") == true)
    #expect(failure?.hint?.contains("take in a file of the group first") == true)
  }
}
