import Foundation
import Godwit
import Testing

@Suite("A statement of which only the text is known")
struct ScriptTests {
  private let group: TestGroup

  init() async throws {
    group = try await TestGroup(1)
    try await group[0].write { try $0.insert(Note(title: "one")) }
  }

  @Test("changes the rows it changes itself, and none when it is no write of rows")
  func changes() async throws {
    let changes = try await group[0].write { transaction in
      try [
        "UPDATE note SET views = 1", "CREATE INDEX own ON note (views)", "SELECT 1",
        "UPDATE note SET views = 2 WHERE 0",
      ]
      .map { try transaction.execute(SQL(text: $0)) }
    }
    #expect(changes == [1, 0, 0, 0])
  }

  @Test("shows before it runs whether it reads and whether it finds rows")
  func kinds() async throws {
    let kinds = try await group[0].write { transaction in
      try ["SELECT 1", "DELETE FROM note", "CREATE TABLE own (a)", "PRAGMA table_info(note)"]
        .map { try transaction.kind(of: SQL(text: $0)) }
    }
    #expect(kinds.map(\.isReading) == [true, false, false, true])
    #expect(kinds.map(\.findsRows) == [true, false, false, true])
    #expect(try await group[0].count(Note.all) == 1)
  }

  @Test("leaves nothing when it is rehearsed, and fails as it would")
  func rehearsal() async throws {
    let digest = try await group[0].maintenance.digest()
    let changes = try await group[0].rehearse { transaction in
      _ = try transaction.execute("CREATE TABLE own (a)")
      return try transaction.execute("UPDATE note SET title = 'two'")
    }
    #expect(changes == 1)
    #expect(await code { try await group[0].rehearse { _ = try $0.execute("DELETE FROM nothing") } } == .sql)
    #expect(try await group[0].maintenance.digest() == digest)
    #expect(try await group[0].history.log().map(\.sequence) == [1])
    #expect(try await group[0].rows("SELECT 1 FROM sqlite_master WHERE name = 'own'").isEmpty)
    try await group[0].write { try $0.insert(Note(title: "three")) }
    #expect(try await group[0].history.log().map(\.sequence) == [2, 1])
    #expect(try await group[0].maintenance.verify().problems == [])
  }
}
