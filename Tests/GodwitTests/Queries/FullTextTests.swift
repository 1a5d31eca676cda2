import Godwit
import Testing

@Suite("Full-text search in SQL")
struct FullTextTests {
  @Test("a table of FTS4 is made, written and asked in a write, and a reader cannot ask it")
  func fts4() async throws {
    let replica = try await Replica.temporary(models: Note.self, Folder.self)
    let found = try await replica.write { tx in
      _ = try tx.execute("CREATE VIRTUAL TABLE words USING fts4(title)")
      for title in ["buy milk", "call ada", "milk the cow"] {
        try tx.insert(Note(title: title))
        _ = try tx.execute("INSERT INTO words (title) VALUES (\(title))")
      }
      return try tx.rows("SELECT title FROM words WHERE words MATCH 'milk' ORDER BY title")
    }
    #expect(found.map { $0["title"] } == ["buy milk", "milk the cow"])
    #expect(await code { try await replica.rows("SELECT title FROM words WHERE words MATCH 'milk'") } == .sql)
    #expect(try await replica.history.log(limit: 10).flatMap(\.changes).map(\.table) == ["note"])
    await replica.close()
  }
}
