import Foundation
import Godwit
import Testing

@Suite("A query in SQL")
struct RawRequestTests {
  private let library: Library
  private var replica: Replica { library.replica }

  init() async throws { library = try await Library() }

  private struct Line: Decodable, Equatable {
    var title: String
    var pages: Int
    var subtitle: String?
    var isLent: Bool
    enum CodingKeys: String, CodingKey { case title, pages, subtitle, isLent = "is_lent" }
  }

  @Test("reads rows as typed tuples, with values bound and never spliced")
  func typed() async throws {
    let title = "'; DROP TABLE book; --"
    let least = 220
    let sql: SQL = "SELECT title, pages, subtitle FROM book WHERE pages > \(least) AND title <> \(title) ORDER BY pages"
    let rows = try await replica.fetch(sql.reading(String.self, Int.self, String?.self))
    #expect(rows.map(\.0) == ["The Waves", "Orlando"])
    #expect(rows.map(\.1) == [230, 330])
    #expect(rows.map(\.2) == [nil, "A Biography"])
    #expect(try await replica.count(sql.reading(String.self)) == 2)
    let first = try await replica.first(sql.reading(String.self))
    #expect(first == "The Waves")
    #expect(try await replica.count(Book.all) == 4)
  }

  @Test(
    "is limited and counted whatever it ends with",
    arguments: ["SELECT title FROM book;", "SELECT title FROM book ; \n", "SELECT title FROM book -- all of them"])
  func endings(text: String) async throws {
    let request = SQL(text: text).reading(String.self)
    #expect(try await replica.fetch(request).count == 4)
    #expect(try await replica.count(request) == 4)
    #expect(try await replica.fetch(request.limit(2)).count == 2)
    #expect(try await replica.first(request) != nil)
  }

  @Test("puts a part in with its values, such as a request's own SQL")
  func parts() async throws {
    let long: SQL = "pages > \(220)"
    let sql: SQL =
      "SELECT title FROM (\(try Book.where { $0.title != "Orlando" }.sql)) WHERE \(long) AND title <> \("none")"
    #expect(try await replica.fetch(sql.reading(String.self)) == ["The Waves"])
    #expect(sql.values.count == 3)
  }

  @Test("reads record IDs of a Decodable type")
  func recordIDs() async throws {
    struct Reference: Decodable {
      let id: Book.ID
      let author: Author.ID?
    }
    let sql: SQL = "SELECT id, author FROM book WHERE author IS NULL OR title = \("Orlando") ORDER BY title"
    let found = try await replica.fetch(sql.decoding(Reference.self))
    #expect(found.map(\.id) == [library.anonymous.id, library.orlando.id])
    #expect(found.map(\.author) == [nil, library.woolf.id])
    let short: SQL = "SELECT x'00' AS id, NULL AS author"
    #expect(await code { try await replica.fetch(short.decoding(Reference.self)) } == .valueMismatch)
  }

  @Test("reads rows as a Decodable type, by column name")
  func decodable() async throws {
    let sql: SQL = "SELECT * FROM book WHERE title = \("Orlando")"
    #expect(
      try await replica.fetch(sql.decoding(Line.self))
        == [Line(title: "Orlando", pages: 330, subtitle: "A Biography", isLent: true)])
  }

  @Test("decodes every kind of value as it was stored")
  func everyKind() async throws {
    struct Kinds: Decodable, Equatable {
      var int64: Int64; var uint64: UInt64; var double: Double; var decimal: Decimal; var text: String
      var data: Data; var date: Date; var uuid: UUID; var url: URL; var list: [String]; var mood: String
    }
    let folder = try TemporaryFolder()
    let replica = try await Replica.open(at: folder.file("r"), models: Everything.self)
    var everything = Everything()
    everything.int64 = .min
    everything.uint64 = .max
    everything.double = 2.5
    everything.decimal = Decimal(string: "12345678901234567890.123") ?? 0
    everything.data = Data([0, 255])
    everything.date = Date(timeIntervalSinceReferenceDate: 700_000_000.125)
    everything.list = ["a", "b"]
    let stored = everything
    try await replica.write { _ = try $0.insert(stored) }
    let rows = try await replica.fetch(SQL("SELECT * FROM everything").decoding(Kinds.self))
    let row = try #require(rows.first)
    #expect(row.int64 == .min && row.uint64 == .max && row.double == 2.5 && row.decimal == stored.decimal)
    #expect(row.data == stored.data && row.date == stored.date && row.uuid == stored.uuid && row.list == stored.list)
    await replica.close()
  }

  @Test("with a value of another type is valueMismatch, naming the column, and fewer columns are invalidArgument")
  func mismatch() async throws {
    struct Wrong: Decodable { var title: Int }
    struct Missing: Decodable { var nothing: Int }
    let replica = replica
    #expect(await code { try await replica.fetch(SQL("SELECT title FROM book").reading(Int.self)) } == .valueMismatch)
    #expect(
      await code { try await replica.fetch(SQL("SELECT title FROM book").reading(String.self, Int.self)) }
        == .invalidArgument)
    #expect(await code { try await replica.fetch(SQL("SELECT * FROM book").decoding(Missing.self)) } == .valueMismatch)
    do {
      _ = try await replica.fetch(SQL("SELECT title FROM book").decoding(Wrong.self))
      Issue.record("text was read as a number")
    } catch let error as GodwitError {
      #expect(error.code == .valueMismatch && error.message.contains("title"))
    }
  }

  @Test("that writes is refused")
  func writing() async throws {
    let replica = replica
    #expect(await code { try await replica.fetch(SQL("DELETE FROM book").reading(Int.self)) } == .notAuthorized)
    #expect(try await replica.count(Book.all) == 4)
  }
}

/// A model whose key has two columns.
private struct TheatreSeat: Model {
  static let schema = Schema<Self>("theatre_seat") {
    Key(Column("row_number", \.row), Column("place", \.place))
    Column("note", \.note)
  }
  var id: PairKey<Int, Int> {
    get { PairKey(row, place) }
    set { (row, place) = (newValue.first, newValue.second) }
  }
  var row = 0
  var place = 0
  var note = ""
}

@Suite("Models without some columns")
struct OmittingTests {
  @Test("keep all of a key of several columns")
  func wholeKey() async throws {
    let folder = try TemporaryFolder()
    let replica = try await Replica.open(at: folder.file("r"), models: TheatreSeat.self)
    try await replica.write { try $0.insert(TheatreSeat(row: 3, place: 7, note: "window")) }
    let seat = try #require(try await replica.first(TheatreSeat.all.omitting(\.place, \.note)))
    #expect(seat.row == 3 && seat.place == 7 && seat.note.isEmpty)
    await replica.close()
  }

  @Test("keep the defaults of what was left out")
  func omitting() async throws {
    let library = try await Library()
    let query = Book.where { $0.title == "Orlando" }.omitting(\.subtitle, \.pages)
    let book = try #require(try await library.replica.first(query))
    #expect(book.id == library.orlando.id && book.title == "Orlando" && book.isLent)
    #expect(book.subtitle == nil && book.pages == 0)
    #expect(!(try query.sql.text.contains("subtitle")))
    let note = Note.all.omitting(\.isSelected)
    #expect(throws: GodwitError.self) { try note.sql }
  }
}
