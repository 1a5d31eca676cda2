import Foundation
import Godwit
import Testing

private struct Rating: Model {
  static let schema = Schema<Self>("rating") { Column("stars", \.stars) }
  var id = RecordID<Rating>()
  var stars: UInt8?
}

@Suite("A selection")
struct SelectionTests {
  private let library: Library
  private var replica: Replica { library.replica }

  init() async throws { library = try await Library() }

  @Test("reads chosen columns as values and tuples")
  func columns() async throws {
    #expect(
      try await replica.fetch(Book.order(by: \.pages).select { $0.title }) == [
        "Beowulf", "The Aleph", "The Waves", "Orlando",
      ])
    let rows = try await replica.fetch(
      Book.where { $0.pages > 220 }.order(by: \.title).select { ($0.title, $0.pages, $0.subtitle) })
    #expect(rows.map(\.0) == ["Orlando", "The Waves"])
    #expect(rows.map(\.1) == [330, 230])
    #expect(rows.map(\.2) == ["A Biography", nil])
  }

  @Test("makes a row into a struct of the program's own")
  func projection() async throws {
    struct Line: Equatable { var title: String; var pages: Int }
    let lines = try await replica.fetch(
      Book.order(by: \.pages).limit(1).select { ($0.title, $0.pages) }.map { Line(title: $0, pages: $1) })
    #expect(lines == [Line(title: "Beowulf", pages: 150)])
  }

  @Test("finds each different value once")
  func distinct() async throws {
    let authors = try await replica.fetch(Book.select { $0.author }.distinct())
    #expect(authors.count == 3)
    #expect(try await replica.count(Book.select { $0.author }.distinct()) == 3)
  }

  @Test("aggregates: count, sum, average, least and greatest")
  func aggregates() async throws {
    let row = try await replica.first(
      Book.select {
        (
          $0.id.count(), $0.pages.sum(), $0.pages.average(), $0.price.min(), $0.price.max(), $0.author.count(),
          $0.author.countDistinct()
        )
      })
    let found = try #require(row)
    #expect(found.0 == 4)
    #expect(found.1 == 920)
    #expect(found.2 == 230)
    #expect(found.3 == 5)
    #expect(found.4 == 12)
    #expect(found.5 == 3)
    #expect(found.6 == 2)
  }

  @Test("gives nil, not 0, for the aggregates of an empty table, and 0 for its count")
  func emptyAggregates() async throws {
    let none = Copy.where { $0.shelf == "nowhere" }
    let count = try await replica.first(none.select { $0.id.count() })
    #expect(count == 0)
    let books = Book.where { $0.pages < 0 }
    let row = try #require(
      try await replica.first(books.select { ($0.pages.sum(), $0.pages.average(), $0.pages.min(), $0.title.max()) }))
    #expect(row.0 == nil && row.1 == nil && row.2 == nil && row.3 == nil)
  }

  @Test("groups, and keeps the groups that meet a condition")
  func groups() async throws {
    let query = Book.all.group(by: \.author).having { $0.id.count() > 1 }.select { ($0.author, $0.pages.sum()) }
    let rows = try await replica.fetch(query)
    #expect(rows.count == 1)
    #expect(rows.first?.0 == library.woolf.id)
    #expect(rows.first?.1 == 560)
    #expect(try await replica.count(query) == 1)
  }

  @Test("computes")
  func arithmetic() async throws {
    let rows = try await replica.fetch(
      Book.where { $0.title == "Orlando" }.select {
        (
          ($0.pages + 1) * 2, $0.pages - $0.pages / 4, $0.price / 2, $0.pages % 7, $0.title + "!",
          $0.title.uppercased(), $0.title.length, $0.subtitle ?? ""
        )
      })
    let row = try #require(rows.first)
    #expect(row.0 == 662 && row.1 == 248 && row.2 == 4 && row.3 == 1)
    #expect(row.4 == "Orlando!" && row.5 == "ORLANDO" && row.6 == 7 && row.7 == "A Biography")
  }

  @Test("is a set of values for another query")
  func subquery() async throws {
    let long = Book.where { $0.pages > 300 }.select { $0.author ?? library.silent.id }
    #expect(try await replica.fetch(Author.where { $0.id.isIn(long) }).map(\.name) == ["Woolf"])
    #expect(
      try await replica.fetch(Author.where { !$0.id.isIn(long) }.order(by: \.name)).map(\.name) == ["Borges", "Silent"])
  }

  @Test("of optional values is a set without nil, also when negated")
  func optionalSubquery() async throws {
    let sequels = Book.select { $0.sequelOf }
    #expect(try await replica.fetch(Book.where { $0.sequelOf.isIn(sequels) }).map(\.title) == ["Orlando"])
    #expect(try await replica.count(Book.where { !$0.sequelOf.isIn(sequels) }) == 3)
  }

  @Test("skips rows with and without a limit")
  func offsets() async throws {
    let titles = Book.order(by: \.title).select { $0.title }
    #expect(try await replica.fetch(titles.offset(2)) == ["The Aleph", "The Waves"])
    #expect(try await replica.fetch(titles.offset(1).limit(2)) == ["Orlando", "The Aleph"])
    #expect(try await replica.count(titles.offset(3)) == 1)
  }

  @Test("is the SQL a person would write")
  func sql() throws {
    #expect(
      try Book.where { $0.pages > 3 && ($0.title == "a" || !$0.isLent) }.order(by: \.title, .descending).limit(2)
        .select { ($0.title, $0.pages) }.sql.text
        == #"SELECT `title`, `pages` FROM "book" WHERE `pages` > ? AND (`title` = ? OR NOT `is_lent`) ORDER BY `title` DESC LIMIT ?"#
    )
    #expect(
      try Book.all.group(by: \.author).having { $0.pages.sum() > 9 }.select { ($0.author, $0.pages.sum()) }.sql.text
        == #"SELECT `author`, sum(`pages`) FROM "book" GROUP BY `author` HAVING sum(`pages`) IS NOT NULL AND sum(`pages`) > ?"#
    )
  }

  @Test("sums narrow numbers beyond their own range")
  func wideSum() async throws {
    let folder = try TemporaryFolder()
    let replica = try await Replica.open(at: folder.file("narrow"), models: Rating.self)
    try await replica.write { try $0.insert([Rating(stars: 200), Rating(stars: 200), Rating()]) }
    #expect(try await replica.first(Rating.select { $0.stars.sum() }) == 400)
    #expect(try await replica.count(Rating.all.group(by: \.id).having { $0.stars.sum() > 300 }.select { $0.id }) == 0)
    await replica.close()
  }
}
