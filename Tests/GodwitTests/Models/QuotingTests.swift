import Foundation
import Godwit
import Testing

/// A mark with an accent upon it is one character to Swift, and still a mark to SQLite.
private struct Quoted: Model {
  static let schema = Schema<Self>("quo\"\u{301}ted", sync: .local) {
    Column("na\"\u{301}me\"", \.name)
  }
  var id = RecordID<Quoted>()
  var name = "it'\u{301}s 'so'"
}

@Suite("Quotation marks")
struct QuotingTests {
  @Test("in names and default texts, bare or under an accent, end nothing")
  func marksEndNothing() async throws {
    let folder = try TemporaryFolder()
    let replica = try await Replica.open(at: folder.file("replica"), models: Quoted.self)
    try await replica.write { transaction in
      try transaction.insert(Quoted())
      _ = try transaction.execute("INSERT INTO \(name: Quoted.schema.table) (id) VALUES (\(RecordID<Quoted>()))")
    }
    let found = try await replica.fetch(Quoted.where { $0.name == Quoted().name })
    #expect(found.count == 2)
    await replica.close()
  }
}
