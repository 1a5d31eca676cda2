import Foundation
import Godwit
import GodwitBase
import GodwitStorage
import Testing

/// A program that opens the database with SQLCipher alone has neither the functions that capture nor a log to write.
@Suite("A program without Godwit")
struct ForeignProgramTests {
  private let group: TestGroup
  private let note = Note()

  init() async throws {
    group = try await TestGroup(1)
    let note = note
    try await group[0].write { try $0.insert(note) }
  }

  private func connection() async throws -> Connection {
    let (path, key) = try await group[0].databaseKey()
    return try Connection(path: path, key: KeyBox(key: key), mode: .writer)
  }

  private struct KeyBox: CipherKey {
    let key: any CipherKey
    func withKeyBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
      try key.withKeyBytes(body)
    }
  }

  @Test(
    "cannot change a synced table",
    arguments: [
      "INSERT INTO note (id, title, views) VALUES (x'00', 'foreign', 0)", "UPDATE note SET title = 'foreign'",
      "UPDATE note SET body = 'foreign'", "DELETE FROM note", "INSERT OR REPLACE INTO note SELECT * FROM note",
      "UPDATE note SET id = x'01'",
    ])
  func failsClosed(sql: String) async throws {
    let before = try await group[0].maintenance.digest()
    let foreign = try await connection()
    #expect(throws: GodwitError.self) { try foreign.run(sql) }
    #expect(try await group[0].maintenance.digest() == before)
    #expect(try await group[0].history.log().count == 1)
  }

  @Test("may change tables that are not synced")
  func localTable() async throws {
    let foreign = try await connection()
    try foreign.run("INSERT INTO draft (id, title) VALUES (?, 'foreign')", [.blob(Array(repeating: 7, count: 16))])
    #expect(try await group[0].fetch(Draft.all).map(\.title) == ["foreign"])
  }

  @Test("reads what is there")
  func reads() async throws {
    #expect(try await connection().scalar("SELECT count(*) FROM note") == .integer(1))
  }
}
