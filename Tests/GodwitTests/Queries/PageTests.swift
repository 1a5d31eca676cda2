import Foundation
import Godwit
import Testing

private struct Square: Model {
  static let schema = Schema<Self>("square") {
    Key(Column("row", \.row), Column("column", \.column))
    Column("weight", \.weight)
  }
  var row = 0
  var column = ""
  var weight = 0
  var id: PairKey<Int, String> {
    get { PairKey(row, column) }
    set { (row, column) = (newValue.first, newValue.second) }
  }
}

@Suite("A page")
struct PageTests {
  private let library: Library
  private var replica: Replica { library.replica }

  init() async throws { library = try await Library() }

  private static func pages<Root: Model>(of query: Query<Root>, _ limit: Int, in replica: Replica) async throws
    -> [[Root]]
  {
    var pages: [[Root]] = []
    var last: Root.ID?
    while case let rows = try await replica.fetch(query.page(after: last, limit: limit)), !rows.isEmpty {
      pages.append(rows)
      last = rows.last?.id
    }
    return pages
  }

  @Test("begins behind a key, and the pages are all the rows in the order of their keys", arguments: [1, 2, 3, 4, 5])
  func all(limit: Int) async throws {
    let books = try await replica.fetch(Book.order(by: \.id)).map(\.title)
    let pages = try await Self.pages(of: Book.all, limit, in: replica)
    #expect(pages.flatMap { $0 }.map(\.title) == books)
    #expect(pages.dropLast().allSatisfy { $0.count == limit })
  }

  @Test("is of the rows that meet the condition, and is not moved by rows that come and go")
  func filtered() async throws {
    let long = Book.where { $0.pages > 200 }
    let first = try await replica.fetch(long.page(limit: 1))
    let key = try #require(first.first?.id)
    try await replica.write { _ = try $0.delete(Book.self, key: key) }
    let rest = try await replica.fetch(long.page(after: key, limit: 5)).map(\.id)
    #expect(rest == (try await replica.fetch(long.order(by: \.id))).map(\.id))
  }

  @Test("goes by the columns of a key of several")
  func severalColumns() async throws {
    let replica = try await Replica.temporary(models: Square.self)
    try await replica.write { transaction in
      for row in [2, 0, 1] {
        for column in ["b", "a", "c"] { try transaction.insert(Square(row: row, column: column)) }
      }
    }
    let wanted = ["0a", "0b", "0c", "1a", "1b", "1c", "2a", "2b", "2c"]
    for limit in [1, 2, 4] {
      let pages = try await Self.pages(of: Square.where { $0.weight == 0 }, limit, in: replica)
      #expect(pages.flatMap { $0 }.map { "\($0.row)\($0.column)" } == wanted)
    }
    await replica.close()
  }

  @Test("is the SQL a person would write")
  func sql() throws {
    #expect(
      try Book.page(after: library.waves.id, limit: 2).select { $0.title }.sql.text
        == #"SELECT `title` FROM "book" WHERE `id` > ? ORDER BY `id` LIMIT ?"#)
    #expect(
      try Square.page(after: PairKey(1, "a"), limit: 2).select { $0.weight }.sql.text
        == #"SELECT `weight` FROM "square" WHERE `row` >= ? AND (`row` > ? OR `column` > ?) "#
        + #"ORDER BY `row`, `column` LIMIT ?"#)
  }

  @Test("of a query with an order, a limit or an offset is refused, and so is a negative one")
  func refused() throws {
    for query in [Book.order(by: \.title), Book.all.limit(3), Book.all.offset(3)] {
      #expect(throws: GodwitError.self) { try query.page(limit: 2).sql }
    }
    #expect(throws: GodwitError.self) { try Book.page(limit: -1).sql }
  }
}
