import Foundation
import GodwitModel
import Testing

@testable import Godwit

private struct Event: Model {
  static let schema = Schema<Self>("event") {
    Column("title", \.title)
    Column("start", \.start)
    Column("end", \.end)
    Column("made", \.made)
  }
  var id = 0
  var title = ""
  var start = Date(timeIntervalSinceReferenceDate: 0)
  var end: Date?
  var made = Timestamp()
}

@Suite("An expression")
struct FunctionTests {
  private let library: Library
  private var replica: Replica { library.replica }

  init() async throws { library = try await Library() }

  private func titles(_ query: Query<Book>) async throws -> [String] {
    try await replica.fetch(query.order(by: \.title)).map(\.title)
  }

  @Test("asks whether rows of another model exist, or of the same")
  func exists() async throws {
    let writers = Author.where { author in Book.exists { $0.author == author.id } }.order(by: \.name)
    #expect(try await replica.fetch(writers).map(\.name) == ["Borges", "Woolf"])
    #expect(try await replica.fetch(Author.where { author in !Book.exists { $0.author == author.id } }).count == 1)
    #expect(try await titles(Book.where { book in Book.exists { $0.sequelOf == book.id } }) == ["The Waves"])
    let nested = Author.where { author in
      Book.exists { book in book.author == author.id && Book.exists { $0.sequelOf == book.id } }
    }
    #expect(try await replica.fetch(nested).map(\.name) == ["Woolf"])
    let replica = replica
    let count = try await replica.write { transaction in
      try transaction.delete(Author.where { author in !Book.exists { $0.author == author.id } })
    }
    #expect(count == 1)
  }

  @Test("is observed with the tables of the statements in it, however deep they stand")
  func observedTables() {
    #expect(Author.where { $0.name == "Woolf" }.tables == ["author"])
    let queries = [
      Author.where { author in Book.exists { $0.author == author.id } },
      Author.where { author in [false].contains(Book.exists { $0.author == author.id }) },
      Author.where { author in Book.exists { $0.author == author.id }.isIn([true]) },
      Author.where { author in Book.exists { $0.author == author.id }.then("x", else: "y").isIn(["x"]) },
    ]
    // Those of any table.
    for query in queries { #expect(query.tables.isEmpty) }
  }

  @Test("gives each question its own name for the table")
  func existsSQL() throws {
    let nested = Author.where { author in
      Book.exists { book in book.author == author.id && Book.exists { $0.sequelOf == book.id } }
    }
    #expect(
      try nested.select { $0.name }.sql.text
        == #"SELECT `name` FROM "author" WHERE EXISTS (SELECT 1 FROM "book" AS "godwit_inner_2" "#
        + #"WHERE "godwit_inner_2"."author" IS "author"."id" AND EXISTS (SELECT 1 FROM "book" AS "godwit_inner_1" "#
        + #"WHERE "godwit_inner_1"."sequel_of" IS "godwit_inner_2"."id"))"#)
  }

  @Test("chooses between values and expressions")
  func cases() async throws {
    let sizes = Book.order(by: \.pages).select {
      ($0.pages > 300).then("long", else: ($0.pages > 200).then("middle", else: "short"))
    }
    #expect(try await replica.fetch(sizes) == ["short", "middle", "middle", "long"])
    let names = Book.order(by: \.pages).select { $0.isLent.then($0.title, else: $0.subtitle ?? "-") }
    #expect(try await replica.fetch(names) == ["100% old", "-", "-", "Orlando"])
    let counted = Book.select { ($0.pages > 220).then(1, else: 0).sum() }
    #expect(try await replica.fetch(counted) == [2])
    let replica = replica
    _ = try await replica.write { try $0.update(Book.all) { $0.pages = ($0.pages > 220).then($0.pages, else: 0) } }
    #expect(try await replica.count(Book.where { $0.pages == 0 }) == 2)
  }

  @Test("finds text as it stands, whatever % and _ mean elsewhere, and in both cases when asked")
  func wildcards() async throws {
    let replica = try await Replica.temporary(models: Event.self)
    let titles = ["100% old", "100 old", "a_b", "aXb", "A_B", "%", "_", "back\\slash", "ÉA"]
    try await replica.write { transaction in
      for (id, title) in titles.enumerated() { try transaction.insert(Event(id: id, title: title)) }
    }
    func found(_ condition: (Fields<Event>) -> SQLExpression<Bool>) async throws -> [String] {
      try await replica.fetch(Event.where(condition).order(by: \.id)).map(\.title)
    }
    for part in ["%", "_", "100%", "a_", "_b", "% o", "\\", "É"] {
      #expect(try await found { $0.title.hasPrefix(part) } == titles.filter { $0.hasPrefix(part) })
      #expect(try await found { $0.title.hasSuffix(part) } == titles.filter { $0.hasSuffix(part) })
      #expect(try await found { $0.title.contains(part) } == titles.filter { $0.contains(part) })
    }
    #expect(try await found { $0.title.contains("A_b", ignoringCase: true) } == ["a_b", "A_B"])
    #expect(try await found { $0.title.contains("A_b", ignoringCase: false) } == [])
    #expect(try await found { $0.title.contains("éa", ignoringCase: true) } == [])  // ASCII alone
    await replica.close()
  }

  @Test("sorts letters in both cases as one")
  func ignoringCase() async throws {
    let replica = try await Replica.temporary(models: Event.self)
    try await replica.write { transaction in
      for (id, title) in ["b", "A", "a", "B", "C"].enumerated() { try transaction.insert(Event(id: id, title: title)) }
    }
    let rows = Event.order { [$0.title.ascending.ignoringCase, $0.id.ascending] }
    #expect(try await replica.fetch(rows).map(\.title) == ["A", "a", "b", "B", "C"])
    let turned = Event.order { [$0.title.descending.ignoringCase, $0.id.ascending] }
    #expect(try await replica.fetch(turned).map(\.title) == ["C", "b", "B", "A", "a"])
    let joined = Event.fullJoin(Event.self) { $0.id == $1.id }
      .order { first, _ in [first.title.ascending.ignoringCase, first.id.ascending] }
    #expect(try await replica.fetch(joined).compactMap { $0.0?.title } == ["A", "a", "b", "B", "C"])
    await replica.close()
  }

  @Test("takes dates and timestamps apart as Foundation's calendar does in UTC")
  func dates() async throws {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = .gmt
    let seconds = [0, 0.9999, 86_399.9999, 951_782_400, -1, -0.5, -86_400.5, 1_709_164_800, 4_102_444_799.9996]
    let dates = seconds.map { Date(timeIntervalSince1970: $0) }
    let replica = try await Replica.temporary(models: Event.self)
    try await replica.write { transaction in
      for (id, date) in dates.enumerated() {
        try transaction.insert(Event(id: id, start: date, end: id == 0 ? nil : date, made: Timestamp(date)))
      }
    }
    let rows = try await replica.fetch(
      Event.order(by: \.id).select { event in
        (
          event.start.year, event.start.month, event.start.day, event.end.year, event.made.year, event.made.month,
          event.made.day
        )
      })
    for (row, date) in zip(rows, dates) {
      let parts = calendar.dateComponents([.year, .month, .day], from: date)
      #expect(row.0 == parts.year && row.1 == parts.month && row.2 == parts.day, "\(date)")
      #expect(row.4 == parts.year && row.5 == parts.month && row.6 == parts.day, "\(date)")
    }
    #expect(rows.map(\.3) == [nil] + rows.dropFirst().map(\.0))
    #expect(try await replica.count(Event.where { $0.end.year > 1970 && $0.start.month == 2 }) == 2)
    await replica.close()
  }
}

@Suite("A negative limit or offset")
struct NegativeLimitTests {
  @Test("is refused by requests in SQL and by requests for documents")
  func refused() async throws {
    let replica = try await Replica.temporary()
    let numbers = SQL("SELECT 1").reading(Int.self)
    #expect(await code { try await replica.fetch(numbers.limit(-1)) } == .invalidArgument)
    #expect(await code { try await replica.count(numbers.limit(-1)) } == .invalidArgument)
    #expect(await code { try await replica.fetch(numbers.limit(-1).limit(3)) } == .invalidArgument)
    #expect(try await replica.fetch(numbers.limit(0)).isEmpty)
    let documents = replica.documents("note").all
    #expect(await code { try await replica.fetch(documents.limit(-1)) } == .invalidArgument)
    #expect(await code { try await replica.count(documents.offset(-1)) } == .invalidArgument)
    await replica.close()
  }
}

@Suite("A value of a row")
struct ValueAccessorTests {
  @Test("is asked for what it is")
  func accessors() {
    let values: [Value] = [.null, .integer(1), .real(1.5), .text("a"), .blob([1])]
    #expect(values.map(\.isNull) == [true, false, false, false, false])
    #expect(values.map(\.integer) == [nil, 1, nil, nil, nil])
    #expect(values.map(\.real) == [nil, nil, 1.5, nil, nil])
    #expect(values.map(\.text) == [nil, nil, nil, "a", nil])
    #expect(values.map(\.blob) == [nil, nil, nil, nil, [1]])
  }
}
