import Godwit
import Testing

/// Columns with a merge policy that come to tables whose rows others inserted without them.
@Suite("Added columns with a policy")
struct AddedPolicyColumnTests {
  @MigrationsBuilder private static func notes() -> [Migration] {
    Migration(1, "notes") {
      CreateTable("note", [NewColumn("id", Int.self), NewColumn("title", String.self, default: "")])
    }
    Migration(2, "second") {
      AddColumn("votes", Int.self, default: 2, to: "note", merge: .counter)
      AddColumn("tags", Set<String>.self, default: ["new"], to: "note", merge: .addWinsSet)
      AddColumn("best", Int.self, default: 3, to: "note", merge: .max)
    }
  }

  private static let all = "SELECT id, title, votes, tags, best FROM note ORDER BY id"

  @Test("what an insert of an older version had seen is taken back, though it was waiting")
  func insertedAnew() async throws {
    let group = try await MigrationGroup([1, 2], Self.notes)
    try await group.write(1, #"INSERT INTO note VALUES (1, 'first', 7, '["old"]', 9)"#)
    try await group.send(1, to: 0)
    try await group.write(0, "DELETE FROM note")
    try await group.write(0, "INSERT INTO note VALUES (1, 'again')")

    try await group.update(0, to: 2)

    #expect(try await group.rows(0, Self.all) == [[1, "again", 2, #"["new"]"#, 3]])
    try await group.send(0, to: 1)
    try await group.expectSame()
  }

  @Test("inserts of older versions that had not seen each other bring the default each")
  func concurrentInserts() async throws {
    let group = try await MigrationGroup([1, 1, 2], Self.notes)
    try await group.write(0, "INSERT INTO note VALUES (1, 'here')")
    try await group.write(1, "INSERT INTO note VALUES (1, 'there')")
    try await group.write(2, #"INSERT INTO note VALUES (1, 'newer', 10, '["mine"]', 1)"#)
    for _ in 0..<2 { for other in 1...2 { try await group.send(other, to: 0); try await group.send(0, to: other) } }

    for older in 0...1 { try await group.update(older, to: 2) }

    #expect(try await group.rows(0, Self.all) == [[1, "newer", 14, #"["mine","new"]"#, 3]])
    try await group.expectSame()
  }

  @Test("a row that was deleted and comes back later has what its inserts brought")
  func hidden() async throws {
    let group = try await MigrationGroup([1, 1, 2], Self.notes)
    for (replica, title) in [(0, "here"), (1, "there")] {
      try await group.write(replica, "INSERT INTO note VALUES (1, \(title))")
    }
    try await group.send(0, to: 1)
    try await group.send(1, to: 0)
    try await group.send(1, to: 2)
    try await group.write(0, "DELETE FROM note")
    try await group.write(1, "UPDATE note SET title = 'edited'")
    try await group.update(0, to: 2)
    try await group.send(1, to: 0)
    try await group.update(1, to: 2)

    #expect(try await group.rows(0, Self.all) == [[1, "edited", 4, #"["new"]"#, 3]])
    for other in 1...2 { try await group.send(0, to: other) }
    try await group.expectSame()
  }
}
