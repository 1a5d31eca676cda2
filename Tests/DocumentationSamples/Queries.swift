import Foundation
import Godwit

enum QueriesSamples {
  // begin sample
  protocol Titled: Model {
    static var titleColumn: KeyPath<Self, String> { get }
  }

  struct Book: Titled {
    static let schema = Schema<Self>("book") {
      Column("title", \.title)
      Column("pages", \.pages)
      Column("subtitle", \.subtitle)
      Column("author", \.author).references(Author.self, onDelete: .setNull)
    }
    var id = RecordID<Book>()
    var title = ""
    var pages = 0
    var subtitle: String?
    var author: Author.ID?

    static var titleColumn: KeyPath<Book, String> { \.title }
  }

  struct Author: Model {
    static let schema = Schema<Self>("author") { Column("name", \.name) }
    var id = RecordID<Author>()
    var name = ""
  }
  // end sample

  static func run() async throws {
    let replica = try await Replica.open(at: "library", models: Author.self, Book.self)
    let (woolf, borges) = (Author(name: "Woolf"), Author(name: "Borges"))
    try await replica.write { transaction in
      try transaction.insert([woolf, borges])
      try transaction.insert([
        Book(title: "The Waves", pages: 230, author: woolf.id),
        Book(title: "Orlando", pages: 330, subtitle: "A Biography", author: woolf.id),
        Book(title: "The Aleph", pages: 210, author: borges.id), Book(title: "Beowulf", pages: 150),
      ])
    }

    // begin sample
    let long = Book.where { $0.pages > 200 && !$0.title.hasPrefix("The") }
    let newest = Book.order(by: \.id, .descending).limit(20)
    let untitled = Book.where { $0.subtitle.isNull() || $0.subtitle == "" }
    let short = Book.where { 160 > $0.pages || [210, 230].contains($0.pages) }

    let books = try await replica.fetch(long.order(by: \.title).offset(0).limit(10))
    let first = try await replica.first(newest)
    let count = try await replica.count(untitled)
    // end sample
    try expect(books.map(\.title) == ["Orlando"] && first?.title == "Beowulf" && count == 3)
    try await expect(replica.count(short) == 3)

    // begin sample
    let key = books[0].id
    let found = try await replica.fetch(Book.self, key: key)  // nil when there is no such row
    let some = try await replica.fetch(Book.where { $0.id.isIn([key]) && $0.pages.isIn(100...400) })
    let writers = try await replica.fetch(
      Author.where { $0.id.isIn(Book.where { $0.pages > 220 }.select { $0.author }) })
    let same = try await replica.fetch(
      Author.where { author in Book.exists { $0.author == author.id && $0.pages > 220 } })
    // end sample
    try expect(found?.title == "Orlando" && some.count == 1)
    try expect(writers.map(\.name) == ["Woolf"] && same.map(\.name) == ["Woolf"])

    // begin sample
    var pages: [[Book]] = []
    while case let page = try await replica.fetch(Book.page(after: pages.last?.last?.id, limit: 3)), !page.isEmpty {
      pages.append(page)
    }
    // end sample
    try expect(pages.map(\.count) == [3, 1])

    // begin sample
    var total = 0
    for try await book in replica.stream(long) { total += book.pages }
    // end sample
    // begin sample
    func titled<Root: Titled>(_ word: String, among query: Query<Root>) -> Query<Root> {
      query.where { $0[dynamicMember: Root.titleColumn].contains(word, ignoringCase: true) }
    }
    let byTitle = try await replica.fetch(titled("waves", among: Book.all))
    // end sample
    try expect(total == 330 && byTitle.map(\.title) == ["The Waves"])

    // begin sample
    let titles = try await replica.fetch(Book.order(by: \.title).select { $0.title })
    let lines = try await replica.fetch(Book.where { $0.pages > 200 }.select { ($0.title, $0.pages * 2) })
    let sizes = try await replica.fetch(
      Book.order { [$0.title.ascending.ignoringCase] }
        .select { ($0.title, ($0.pages > 220).then("long", else: "short")) })
    let light = try await replica.fetch(Book.all.omitting(\.subtitle))  // books whose subtitle is not read
    let perAuthor = try await replica.fetch(
      Book.all.group(by: \.author).having { $0.id.count() > 1 }
        .select { ($0.author, $0.pages.sum(), $0.pages.average()) })
    // end sample
    try expect(titles.count == 4 && lines.count == 3 && light.count == 4 && perAuthor.count == 1)
    try expect(sizes.map(\.1) == ["short", "long", "short", "long"])
    try expect(perAuthor[0].0 == woolf.id && perAuthor[0].1 == 560 && perAuthor[0].2 == 280)

    // begin sample
    let pairs = try await replica.fetch(
      Book.leftJoin(Author.self) { $0.author == $1.id }
        .where { book, author in book.pages < 300 }
        .order { book, author in [author.name.ascending, book.title.ascending] })
    for (book, author) in pairs { print(book.title, author?.name ?? "by nobody known") }

    let pagesOfAuthors = try await replica.fetch(
      Book.where { $0.pages > 220 }.rightJoin(Author.self) { $0.author == $1.id }  // every author
        .select { book, author in (author.name, book.title, book.pages.map { $0 * 2 }) })
    let anonymous = try await replica.fetch(
      Book.leftJoin(Author.self) { $0.author == $1.id }.where { _, author in author.id.isNull() })

    let colleagues = try await replica.fetch(
      Book.join(Author.self) { $0.author == $1.id }
        .leftJoin(Book.self) { book, author, other in other.author == author.id && other.id != book.id }
        .select { book, author, other in (book.title, author.name, other.title) })
    // end sample
    try expect(anonymous.map(\.0.title) == ["Beowulf"])
    try expect(colleagues.count == 3 && Set(colleagues.map(\.2)) == ["The Waves", "Orlando", nil])
    let alone: [(String, String?, Int?)] = pagesOfAuthors.filter { $0.1 == nil }
    try expect(pagesOfAuthors.count == 3 && alone.map(\.0) == ["Borges"] && alone[0].2 == nil)
    try expect(pairs.map { $0.1?.name } == [nil, "Borges", "Woolf"])

    // begin sample
    try await replica.write { transaction in
      let changed = try transaction.update(Book.where { $0.author == woolf.id }) {
        $0.pages += 10
        $0.subtitle = nil
      }
      let deleted = try transaction.delete(Book.where { $0.pages < 200 })
      print(changed, deleted)  // 2 1
    }
    // end sample
    try await expect(replica.count(Book.where { $0.pages == 340 }) == 1, replica.count(Book.all) == 3)

    // begin sample
    let least = 220
    let predicate = #Predicate<Book> { $0.pages > least && $0.title.contains("Wa") }
    let waves = try await replica.fetch(Book.where(predicate))
    // end sample
    try expect(waves.map(\.title) == ["The Waves"])

    // begin sample
    struct Line: Decodable {
      let title: String
      let pages: Int
    }

    let sql: SQL = "SELECT title, pages FROM book WHERE pages > \(least) ORDER BY \(name: "title")"
    let pairsOfValues = try await replica.fetch(sql.reading(String.self, Int.self))
    let decoded = try await replica.fetch(sql.decoding(Line.self))
    let rows = try await replica.rows(sql)
    print(pairsOfValues[0].0, decoded[0].title, rows[0]["title"] ?? .null)
    // end sample
    try expect(pairsOfValues.count == 2 && decoded.map(\.pages) == [340, 240] && rows.count == 2)
    await replica.close()
  }
}
