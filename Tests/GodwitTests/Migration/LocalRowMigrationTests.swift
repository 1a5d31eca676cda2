import Godwit
import Testing

@testable import Godwit
@testable import GodwitEngine

/// Rows that stay on a replica may wait for synced ones, too.
@Suite("Local rows and migrations")
struct LocalRowMigrationTests {
  @Migrations.Builder private static func drafts() -> [Migration] {
    Migration(1, "drafts") {
      $0.create("topic") {
        $0.column("id", Int.self)
        $0.column("name", String.self, default: "")
        $0.index("name", unique: true)
      }
      $0.create("draft", sync: .local) {
        $0.column("id", Int.self)
        $0.column("text", String.self, default: "")
        $0.column("topic", Int?.self, references: "topic", onDelete: .setNull)
        $0.column("other", Int?.self)
      }
      $0.create("mark", sync: .local) {
        $0.column("id", Int.self)
        $0.column("text", String.self, default: "")
        $0.column("topic", Int.self, references: "topic")
      }
    }
    Migration(2, "without") {
      $0.alter("draft") { $0.drop("text") }
      $0.alter("mark") { $0.change("text", String.self, default: "", by: "upper(text)") }
    }
  }

  @Test("keep what they hide, and wait on in the columns that their table has then")
  func rebuilt() async throws {
    let group = try await MigrationGroup([1, 1], Self.drafts)
    try await group.write(1, "INSERT INTO topic VALUES (1, 'x')")
    try await group.write(
      0, "INSERT INTO topic VALUES (2, 'x')", "INSERT INTO draft VALUES (5, 't', 2, 8)",
      "INSERT INTO mark VALUES (6, 'm', 2)")
    try await group.exchange()
    #expect(try await group.rows(0, "SELECT topic FROM draft") == [[.null]])
    #expect(try await group.rows(0, "SELECT * FROM mark").isEmpty)
    for number in 0...1 { try await group.update(number, to: 2) }
    #expect(try await group.rows(0, "SELECT id, topic, other FROM draft") == [[5, .null, 8]])
    try await group.write(1, "UPDATE topic SET name = 'y' WHERE id = 1")
    try await group.exchange()
    #expect(try await group.rows(0, "SELECT id, topic, other FROM draft") == [[5, 2, 8]])
    #expect(try await group.rows(0, "SELECT id, text, topic FROM mark") == [[6, "M", 2]])
    #expect(try await group[0].status().limbo == 0)
    try await group.expectSame()
  }

  private static func group(_ action: DeleteAction) async throws -> MigrationGroup {
    let migrations: () -> [Migration] = { shelves(action) }
    return try await MigrationGroup([1, 1], migrations)
  }

  @Migrations.Builder private static func shelves(_ action: DeleteAction) -> [Migration] {
    Migration(1, "shelves") {
      $0.create("folder") { $0.column("id", Int.self) }
      $0.create("shelf", sync: .local) {
        $0.column("id", Int.self)
        $0.column("name", String?.self)
        $0.index("name", unique: true)
      }
      $0.create("mark", sync: .local) {
        $0.column("id", Int.self)
        $0.column("shelf", Int?.self, references: "shelf", onDelete: action)
        $0.column("folder", Int?.self, references: "folder", onDelete: .setNull)
      }
    }
    Migration(2, "travels") { $0.startSync(of: "shelf") }
  }

  @Test(
    "are not judged by a table whose rows are about to travel, while those are aside",
    arguments: [DeleteAction.cascade, .setNull, .restrict])
  func aside(action: DeleteAction) async throws {
    let group = try await Self.group(action)
    try await group.write(0, "INSERT INTO folder VALUES (1)")
    try await group.exchange()
    try await group.write(0, "INSERT INTO shelf VALUES (7, NULL)", "INSERT INTO mark VALUES (1, 7, 1)")
    try await group.update(1, to: 2)
    try await group.write(1, "DELETE FROM folder")
    #expect(try await group.send(1, to: 0).waiting.held?.version == 2)
    try await group.update(0, to: 2)
    #expect(try await group.rows(0, "SELECT * FROM mark") == [[1, 7, .null]])
    try await group.exchange()
    try await group.expectSame()
  }

  @Test("do not dangle where a row that was to travel stays behind")
  func keptOut() async throws {
    let group = try await Self.group(.cascade)
    try await group.write(0, "INSERT INTO shelf VALUES (7, 'x')", "INSERT INTO mark VALUES (1, 7, NULL)")
    try await group.write(1, "INSERT INTO shelf VALUES (3, 'x')")
    try await group.update(1, to: 2)
    try await group.send(1, to: 0)
    try await group.update(0, to: 2)
    #expect(try await group.rows(0, "SELECT id FROM shelf") == [[3]])
    #expect(try await group.rows(0, "SELECT * FROM mark").isEmpty)
    try await group.exchange()
    try await group.expectSame()
  }

  @Migrations.Builder private static func nested() -> [Migration] {
    Migration(1, "shelves") {
      $0.create("folder") { $0.column("id", Int.self) }
      $0.create("shelf", sync: .local) {
        $0.column("id", Int.self)
        $0.column("folder", Int.self, references: "folder")
      }
      $0.create("mark", sync: .local) {
        $0.column("id", Int.self)
        $0.column("text", String.self, default: "")
        $0.column("shelf", Int.self, references: "shelf", onDelete: .cascade)
      }
    }
    Migration(2, "travels") {
      $0.startSync(of: "shelf")
      $0.alter("mark") { $0.drop("text") }
    }
  }

  @Test("that wait for one that waits and begins to travel wait with it")
  func waitingForWaiting() async throws {
    let group = try await MigrationGroup([1, 1], Self.nested)
    try await group.write(0, "INSERT INTO folder VALUES (1)")
    try await group.exchange()
    try await group.write(0, "INSERT INTO shelf VALUES (7, 1)", "INSERT INTO mark VALUES (1, '', 7)")
    try await group.write(1, "DELETE FROM folder")
    try await group.send(1, to: 0)
    #expect(try await group[0].status().limbo == 2)
    for number in 0...1 { try await group.update(number, to: 2) }
    #expect(try await group[0].status().limbo == 2)
    try await group.write(1, "INSERT INTO folder VALUES (1)")
    try await group.exchange()
    #expect(try await group.rows(0, "SELECT * FROM mark") == [[1, 7]])
    #expect(try await group.rows(1, "SELECT * FROM shelf") == [[7, 1]])
    try await group.expectSame()
  }

  @Migrations.Builder private static func written() -> [Migration] {
    drafts()[0]
    Migration(2, "more") { $0.alter("draft") { $0.change("other", Int?.self, by: "other + 1") } }
  }

  @Test("keep what was written to a reference that had been hidden")
  func writtenSince() async throws {
    let group = try await MigrationGroup([1, 1], Self.written)
    try await group.write(1, "INSERT INTO topic VALUES (1, 'x')")
    try await group.write(0, "INSERT INTO topic VALUES (2, 'x')", "INSERT INTO draft VALUES (5, 't', 2, 8)")
    try await group.exchange()
    #expect(try await group.rows(0, "SELECT topic FROM draft") == [[.null]])
    try await group.write(0, "UPDATE draft SET topic = 1 WHERE id = 5")
    try await group.update(0, to: 2)
    #expect(try await group.rows(0, "SELECT topic, other FROM draft") == [[1, 9]])
  }

  @Migrations.Builder private static func unique() -> [Migration] {
    Migration(1, "marks") {
      $0.create("topic") {
        $0.column("id", Int.self)
        $0.column("name", String.self, default: "")
        $0.index("name", unique: true)
      }
      $0.create("mark", sync: .local) {
        $0.column("id", Int.self)
        $0.column("text", String.self, default: "")
        $0.column("topic", Int.self, references: "topic")
        $0.index("text", unique: true)
      }
    }
    Migration(2, "travels") { $0.startSync(of: "mark") }
    Migration(3, "index") { $0.alter("mark") { $0.addIndex("topic") } }
  }

  @Test("that are shown stand beside one that waits and holds the same unique value", arguments: [false, true])
  func shownStands(travels: Bool) async throws {
    let indexes = Migration(2, "indexes") {
      $0.alter("mark") { $0.addIndex("topic") }
      $0.alter("topic") {
        $0.add("code", Int?.self)
        $0.addIndex("code", unique: true)
      }
    }
    let steps = travels ? Self.unique() : [Self.unique()[0], indexes]
    let migrations: () -> [Migration] = { steps }
    let group = try await MigrationGroup([1, 1], migrations)
    try await group.write(1, "INSERT INTO topic VALUES (1, 'x')")
    try await group.write(0, "INSERT INTO topic VALUES (2, 'x')", "INSERT INTO mark VALUES (6, 'm', 2)")
    try await group.exchange()
    try await group.write(0, "INSERT INTO mark VALUES (9, 'm', 1)")
    try await group.update(0, to: 2)
    #expect(try await group.rows(0, "SELECT id FROM mark") == [[9]])
    #expect(try await group[0].maintenance.verify().isSound)
  }

  @Migrations.Builder private static func marks() -> [Migration] {
    Migration(1, "marks") {
      $0.create("book") { $0.column("id", Int.self) }
      $0.create("mark", sync: .local) {
        $0.column("id", Int.self)
        $0.column("book", Int.self, references: "book")
      }
    }
    Migration(2, "travels") { $0.startSync(of: "mark") }
  }

  @Test("that wait begin to travel, and wait on")
  func waiting() async throws {
    let group = try await MigrationGroup([1, 1], Self.marks)
    try await group.write(0, "INSERT INTO book VALUES (1)")
    try await group.exchange()
    try await group.write(0, "INSERT INTO mark VALUES (1, 1)")
    try await group.write(1, "DELETE FROM book")
    try await group.send(1, to: 0)
    #expect(try await group[0].history.limbo().map(\.key) == [[1]])
    for number in 0...1 { try await group.update(number, to: 2) }
    try await group.exchange()
    for number in 0...1 { #expect(try await group[number].history.limbo().map(\.key) == [[1]]) }
    try await group.write(1, "INSERT INTO book VALUES (1)")
    try await group.exchange()
    #expect(try await group.rows(1, "SELECT * FROM mark") == [[1, 1]])
    try await group.expectSame()
  }
}
