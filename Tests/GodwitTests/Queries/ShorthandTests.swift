import Foundation
import Godwit
import Testing

@Suite("A query may be written")
struct ShorthandTests {
  private let library: Library
  private var replica: Replica { library.replica }

  init() async throws { library = try await Library() }

  private func titles(_ query: Query<Book>) async throws -> [String] {
    try await replica.fetch(query.order(by: \.title)).map(\.title)
  }

  @Test("with the value on the left of every comparison")
  func valueFirst() async throws {
    let pages = 230
    #expect(try await titles(Book.where { pages < $0.pages }) == ["Orlando"])
    #expect(try await titles(Book.where { pages <= $0.pages }) == ["Orlando", "The Waves"])
    #expect(try await titles(Book.where { 210 > $0.pages }) == ["Beowulf"])
    #expect(try await titles(Book.where { 210 >= $0.pages }) == ["Beowulf", "The Aleph"])
    #expect(try await titles(Book.where { "Orlando" == $0.title }) == ["Orlando"])
    #expect(try await titles(Book.where { "Orlando" != $0.title && "A Biography" != $0.subtitle }).count == 3)
    #expect(try await titles(Book.where { nil == $0.subtitle }) == ["The Aleph", "The Waves"])
    #expect(try await titles(Book.where { "A" < $0.subtitle }) == ["Orlando"])
  }

  @Test("with a list or a range that contains the column")
  func contains() async throws {
    #expect(try await titles(Book.where { [150, 330, 7].contains($0.pages) }) == ["Beowulf", "Orlando"])
    #expect(try await titles(Book.where { ["A Biography"].contains($0.subtitle) }) == ["Orlando"])
    #expect(try await titles(Book.where { [nil, "A Biography"].contains($0.subtitle) }).count == 3)
    #expect(try await titles(Book.where { (200...230).contains($0.pages) }) == ["The Aleph", "The Waves"])
    #expect(try await titles(Book.where { (200..<230).contains($0.pages) }) == ["The Aleph"])
    #expect(try await titles(Book.where { ("A"..."B").contains($0.subtitle) }) == ["Orlando"])
  }

  @Test("with a subquery in its place")
  func subquery() async throws {
    let names = try await replica.fetch(
      Author.where { $0.id.isIn(Book.where { $0.pages > 220 }.select { $0.author }) }.select { $0.name })
    #expect(names == ["Woolf"])
    let others = try await replica.fetch(
      Author.where { !$0.id.isIn(Book.select { $0.author }) }.select { $0.name })
    #expect(others == ["Silent"])
  }

  @Test("from the model itself: an order, and joins of three models")
  func model() async throws {
    #expect(
      try await replica.fetch(Book.order { [$0.isLent.descending, $0.title.ascending] }.limit(2)).map(\.title)
        == ["Orlando", "Beowulf"])
    let inner = Shelving.join(
      Book.self, on: { $0.book == $1.id }, Genre.self, on: { link, _, genre in link.genre == genre.id })
    #expect(try await replica.count(inner) == 4)
    let left = Book.leftJoin(Author.self, on: { $0.author == $1.id }, Book.self, on: { $0.sequelOf == $2.id })
    #expect(try await replica.count(left) == 4)
  }

  @Test("as an update that sets values like variables")
  func assignments() async throws {
    let price = 3.5
    let author = library.silent.id
    let count = try await replica.write { transaction in
      try transaction.update(Book.where { $0.pages > 220 }) {
        $0.pages += 10
        $0.title = "same"
        $0.price = price
        $0.subtitle = nil
        $0.isLent = $0.pages > 300
        $0.author = author
      }
    }
    #expect(count == 2)
    let rows = try await replica.fetch(Book.where { $0.title == "same" }.order(by: \.pages))
    #expect(rows.map(\.pages) == [240, 340] && rows.map(\.isLent) == [false, true])
    #expect(rows.allSatisfy { $0.price == price && $0.subtitle == nil && $0.author == author })
  }

  @Test("as an update, and is refused when it sets nil where the property is not optional")
  func nilAssignment() async throws {
    let replica = replica
    let failure = await error { try await replica.write { try $0.update(Book.all) { $0.pages = nil } } }
    #expect(failure?.code == .invalidArgument)
    #expect(failure?.message == "column pages of table book is not optional and cannot be nil")
    #expect(try await replica.count(Book.where { $0.pages > 0 }) == 4)
  }
}

@Suite("A chain of joins")
struct JoinChainTests {
  private let library: Library
  private var replica: Replica { library.replica }

  init() async throws { library = try await Library() }

  @Test("mixes inner and left joins, each of which sees the places before it")
  func mixed() async throws {
    let rows = try await replica.fetch(
      Book.join(Author.self) { $0.author == $1.id }
        .leftJoin(Book.self) { book, _, first in book.sequelOf == first.id }
        .leftJoin(Author.self) { _, _, first, author in first.author == author.id }
        .order { book, _, _, _ in [book.title.ascending] })
    #expect(
      rows.map { "\($0.title)/\($1.name)/\($2?.title ?? "-")/\($3?.name ?? "-")" } == [
        "Orlando/Woolf/The Waves/Woolf", "The Aleph/Borges/-/-", "The Waves/Woolf/-/-",
      ])
  }

  @Test("ends with an inner join, which leaves rows out")
  func inner() async throws {
    let joined = Book.leftJoin(Author.self) { $0.author == $1.id }
      .join(Book.self) { book, author, first in book.sequelOf == first.id && author.name == "Woolf" }
    #expect(try await replica.fetch(joined).map { $0.2.title } == ["The Waves"])
    #expect(try await replica.count(joined) == 1)
  }

  @Test("goes to five models, and is filtered, selected from and limited")
  func five() async throws {
    let rows = Shelving.join(Book.self) { $0.book == $1.id }
      .join(Genre.self) { link, _, genre in link.genre == genre.id }
      .leftJoin(Author.self) { _, book, _, author in book.author == author.id }
      .leftJoin(Copy.self) { _, book, _, _, copy in copy.book == book.id }
      .where { _, _, genre, _, copy in genre.name == "novel" && copy.id.isNull() }
      .order { _, book, _, _, _ in [book.title.ascending] }
    #expect(
      try await replica.fetch(rows.select { _, book, _, author, _ in (book.title, author.name) }.limit(2)).map {
        "\($0) \($1 ?? "-")"
      } == ["Orlando Woolf", "The Aleph Borges"])
    #expect(try await replica.count(rows) == 3)
  }

  @Test("follows a full join, whose rows it joins on both sides")
  func afterFull() async throws {
    let rows = Book.fullJoin(Author.self) { $0.author == $1.id }
      .leftJoin(Book.self) { book, _, first in book.sequelOf == first.id }
    #expect(try await replica.count(rows) == 5)
    #expect(try await replica.fetch(rows).compactMap { $0.2?.title } == ["The Waves"])
  }

  @Test("is the SQL a person would write")
  func sql() throws {
    let names = try Book.join(Author.self) { $0.author == $1.id }
      .leftJoin(Book.self) { book, _, first in book.sequelOf == first.id }.select { $2.title }.sql
    #expect(
      names.text == #"SELECT "book_2"."title" FROM "book" JOIN "author" ON "book"."author" IS "author"."id" "#
        + #"LEFT JOIN "book" AS "book_2" ON "book"."sequel_of" IS "book_2"."id""#)
  }
}
