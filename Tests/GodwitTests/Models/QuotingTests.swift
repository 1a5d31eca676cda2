import Foundation
import Godwit
import Testing

/// A mark with an accent upon it is one character to Swift, and still a mark to SQLite.
private struct Quoted: Model {
  static let schema = Schema<Self>("größe der-sache", sync: .local) {
    Column("名前 1", \.name)
  }
  var id = RecordID<Quoted>()
  var name = "it'\u{301}s 'so'"
}

private struct Marked: Model {
  static let schema = Schema<Self>("quo\"\u{301}ted", sync: .local) {}
  var id = RecordID<Marked>()
}

private struct MarkedColumn: Model {
  static let schema = Schema<Self>("quoted", sync: .local) { Column("na`me", \.name) }
  var id = RecordID<MarkedColumn>()
  var name = ""
}

@Suite("Quotation marks")
struct QuotingTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  @Test("in default texts, bare or under an accent, end nothing, and names may be of any script")
  func marksEndNothing() async throws {
    let replica = try await Replica.open(at: folder.file("replica"), models: Quoted.self)
    try await replica.write { transaction in
      try transaction.insert(Quoted())
      _ = try transaction.execute("INSERT INTO \(name: Quoted.schema.table) (id) VALUES (\(RecordID<Quoted>()))")
    }
    let found = try await replica.fetch(Quoted.where { $0.name == Quoted().name })
    #expect(found.count == 2)
    await replica.close()
  }

  @Test("in the names of a model's table and columns are refused when the replica opens")
  func names() async throws {
    let table = await error { _ = try await Replica.open(at: folder.file("a"), models: Marked.self) }
    #expect(table?.code == .invalidSchema)
    #expect(table?.message.contains("the table name \"quo<U+0022>\u{301}ted\" holds U+0022") == true)
    #expect(table?.hint?.contains("letters") == true)
    let column = await error { _ = try await Replica.open(at: folder.file("b"), models: MarkedColumn.self) }
    #expect(column?.code == .invalidSchema)
    #expect(column?.message.contains("the column name \"na<U+0060>me\" holds U+0060") == true)
  }
}
