import Foundation
import Godwit
import Testing

@Suite("A join")
struct JoinTests {
  private let library: Library
  private var replica: Replica { library.replica }

  init() async throws { library = try await Library() }

  @Test("puts matching rows side by side (inner)")
  func inner() async throws {
    let rows = try await replica.fetch(
      Book.join(Author.self) { $0.author == $1.id }.where { book, author in author.name == "Woolf" && book.pages > 0 }
        .order { book, author in [author.name.descending, book.title.ascending] })
    #expect(rows.map { "\($0.title)/\($1.name)" } == ["Orlando/Woolf", "The Waves/Woolf"])
    #expect(try await replica.count(Book.join(Author.self) { $0.author == $1.id }) == 3)
  }

  @Test("keeps rows without a match (left)")
  func left() async throws {
    let rows = try await replica.fetch(
      Book.leftJoin(Author.self) { $0.author == $1.id }.order { book, _ in [book.title.ascending] })
    #expect(
      rows.map { "\($0.title)/\($1?.name ?? "-")" } == [
        "Beowulf/-", "Orlando/Woolf", "The Aleph/Borges", "The Waves/Woolf",
      ])
  }

  @Test("keeps the other side's rows without a match (right)")
  func right() async throws {
    let rows = try await replica.fetch(
      Book.rightJoin(Author.self) { $0.author == $1.id }.order { book, author in
        [author.name.ascending, book.title.ascending]
      })
    #expect(
      rows.map { "\($0?.title ?? "-")/\($1.name)" } == [
        "The Aleph/Borges", "-/Silent", "Orlando/Woolf", "The Waves/Woolf",
      ])
  }

  @Test("keeps both sides' rows without a match (full), sorted, limited and counted")
  func full() async throws {
    let join = Book.fullJoin(Author.self) { $0.author == $1.id }.order { book, author in
      [author.name.ascending, book.title.ascending]
    }
    let wanted = ["Beowulf/-", "The Aleph/Borges", "-/Silent", "Orlando/Woolf", "The Waves/Woolf"]
    let names: @Sendable (Book?, Author?) -> String = { "\($0?.title ?? "-")/\($1?.name ?? "-")" }
    #expect(try await replica.fetch(join).map(names) == wanted)
    #expect(try await replica.fetch(join.limit(2).offset(1)).map(names) == Array(wanted[1...2]))
    #expect(try await replica.count(join) == 5)
    #expect(
      try await replica.fetch(join.where { _, author in author.name != "Woolf" }).map(names) == Array(wanted[0...2]))
  }

  @Test("takes what the query filtered away before it (right, full), and filters its own rows after it")
  func filtering() async throws {
    let long = Book.where { $0.pages > 300 }
    let names: @Sendable (Book?, Author?) -> String = { "\($0?.title ?? "-")/\($1?.name ?? "-")" }
    let before = long.rightJoin(Author.self) { $0.author == $1.id }.order { _, author in [author.name.ascending] }
    #expect(try await replica.fetch(before).map(names) == ["-/Borges", "-/Silent", "Orlando/Woolf"])
    #expect(try await replica.count(before) == 3)
    let after = Book.rightJoin(Author.self) { $0.author == $1.id }.where { book, _ in book.pages > 300 }
    #expect(try await replica.fetch(after).map(names) == ["Orlando/Woolf"])
    #expect(
      try await replica.fetch(before.where { _, author in author.name < "T" }).map(names) == ["-/Borges", "-/Silent"])

    let fullBefore = long.where { !$0.isLent || $0.title != "" }.fullJoin(Author.self) { $0.author == $1.id }
      .order { _, author in [author.name.ascending] }
    #expect(try await replica.fetch(fullBefore).map(names) == ["-/Borges", "-/Silent", "Orlando/Woolf"])
    #expect(try await replica.count(fullBefore) == 3)
    let nobody = Book.where { $0.pages < 200 }.fullJoin(Author.self) { $0.author == $1.id }
      .order { _, author in [author.name.ascending] }
    #expect(try await replica.fetch(nobody).map(names) == ["Beowulf/-", "-/Borges", "-/Silent", "-/Woolf"])
    let fullAfter = Book.fullJoin(Author.self) { $0.author == $1.id }.where { book, _ in book.pages > 300 }
    #expect(try await replica.fetch(fullAfter).map(names) == ["Orlando/Woolf"])

    let inner = long.join(Author.self) { $0.author == $1.id }
    #expect(try await replica.fetch(inner).map { names($0, $1) } == ["Orlando/Woolf"])
    let left = Book.where { $0.pages < 220 }.leftJoin(Author.self) { $0.author == $1.id }.order { book, _ in
      [book.title.ascending]
    }
    #expect(try await replica.fetch(left).map { names($0, $1) } == ["Beowulf/-", "The Aleph/Borges"])
  }

  @Test("filters the one side of a table that is joined to itself")
  func filteringItself() async throws {
    let join = Book.where { $0.pages > 300 }.rightJoin(Book.self) { $0.sequelOf == $1.id }
      .order { _, first in [first.title.ascending] }
    let rows = try await replica.fetch(join)
    #expect(
      rows.map { "\($0?.title ?? "-")/\($1.title)" } == ["-/Beowulf", "-/Orlando", "-/The Aleph", "Orlando/The Waves"])
  }

  @Test("refuses groups, aggregates and distinct rows of a full join, which SQL would count by halves")
  func fullAggregates() throws {
    let join = Book.fullJoin(Author.self) { $0.author == $1.id }
    #expect(throws: GodwitError.self) { try join.select { book, _ in book.id.count() }.sql }
    #expect(throws: GodwitError.self) { try join.select { book, _ in book.title }.distinct().sql }
    #expect(throws: GodwitError.self) { try join.group { _, author in author.name }.sql }
  }

  @Test("joins a table to itself, and three at once")
  func several() async throws {
    let sequels = try await replica.fetch(Book.join(Book.self) { $0.sequelOf == $1.id })
    #expect(sequels.map { "\($0.title) after \($1.title)" } == ["Orlando after The Waves"])
    let shelved = Shelving.all.join(
      Book.self, on: { $0.book == $1.id }, Genre.self, on: { link, _, genre in link.genre == genre.id })
    let rows = try await replica.fetch(
      shelved.where { _, _, genre in genre.name == "novel" }.order { _, book, _ in [book.title.ascending] })
    #expect(rows.map { "\($1.title) \($2.name)" } == ["Orlando novel", "The Aleph novel", "The Waves novel"])
    let families = try await replica.fetch(
      Book.all.leftJoin(Author.self, on: { $0.author == $1.id }, Book.self, on: { $0.sequelOf == $2.id })
        .order { book, _, _ in [book.title.ascending] })
    #expect(families.map { $0.2?.title } == [nil, "The Waves", nil, nil])
    #expect(families.map { $0.1?.name } == [nil, "Woolf", "Borges", "Woolf"])
  }

  @Test("selects and groups over both tables")
  func groups() async throws {
    let rows = try await replica.fetch(
      Author.leftJoin(Book.self) { $1.author == $0.id }.group { author, _ in author.name }
        .having { _, book in book.id.count() < 2 }.order { author, _ in [author.name.ascending] }
        .select { author, book in (author.name, book.id.count(), book.pages.sum()) })
    #expect(rows.map { "\($0) \($1) \($2 ?? -1)" } == ["Borges 1 210", "Silent 0 -1"])
  }

  @Test("names columns with their table")
  func sql() throws {
    #expect(
      try Book.join(Author.self) { $0.author == $1.id }.select { ($0.title, $1.name) }.sql.text
        == #"SELECT "book"."title", "author"."name" FROM "book" JOIN "author" ON "book"."author" IS "author"."id""#)
  }
}
