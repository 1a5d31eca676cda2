import Foundation
import Godwit
import Testing

@Suite("Fields of a row that a join may not find")
struct MaybeFieldsTests {
  private let library: Library
  private var replica: Replica { library.replica }

  init() async throws { library = try await Library() }

  private static var left: Join<Required<Book>, Maybe<Author>> { Book.leftJoin(Author.self) { $0.author == $1.id } }
  private static var right: Join<Maybe<Book>, Required<Author>> { Book.rightJoin(Author.self) { $0.author == $1.id } }
  private static var full: Join<Maybe<Book>, Maybe<Author>> { Book.fullJoin(Author.self) { $0.author == $1.id } }
  private static var sequels: Join<Required<Book>, Maybe<Book>> { Book.leftJoin(Book.self) { $0.sequelOf == $1.id } }

  @Test("are optional once, whether or not the property is; fields of a row that is there are as declared")
  func types() {
    let inner = Book.join(Author.self) { $0.author == $1.id }
    #expect(type(of: inner.select { ($0.subtitle, $1.name) }) == Selection<(String?, String)>.self)
    #expect(type(of: Self.left.select { ($0.title, $1.name) }) == Selection<(String, String?)>.self)
    #expect(type(of: Self.sequels.select { ($0.subtitle, $1.subtitle) }) == Selection<(String?, String?)>.self)
    #expect(
      type(of: Self.right.select { ($0.pages, $0.author, $1.id) }) == Selection<(Int?, Author.ID?, Author.ID)>.self)
    #expect(type(of: Self.full.select { ($0.title, $1.id) }) == Selection<(String?, Author.ID?)>.self)
    let three = Book.all.leftJoin(Author.self, on: { $0.author == $1.id }, Book.self, on: { $1.id == $2.author })
    #expect(type(of: three.select { ($0.title, $1.name, $2.price) }) == Selection<(String, String?, Double?)>.self)
  }

  @Test("read as nil where there is no row (left, right, full)")
  func selecting() async throws {
    let left = try await replica.fetch(
      Self.left.order { book, _ in [book.title.ascending] }.select { ($0.title, $1.name) })
    #expect(left.map(\.1) == [nil, "Woolf", "Borges", "Woolf"])
    let right = try await replica.fetch(
      Self.right.order { book, author in [author.name.ascending, book.pages.descending] }
        .select { ($0.pages, $0.isLent, $0.subtitle, $1.name) })
    #expect(right.map { "\($3) \($0 ?? -1)" } == ["Borges 210", "Silent -1", "Woolf 330", "Woolf 230"])
    #expect(right.map(\.1) == [false, nil, true, false])
    #expect(right.map(\.2) == [nil, nil, "A Biography", nil])
    let full = try await replica.fetch(
      Self.full.order { book, author in [author.name.ascending, book.title.ascending] }.select { ($0.title, $1.name) })
    #expect(
      full.map { "\($0 ?? "-")/\($1 ?? "-")" } == [
        "Beowulf/-", "The Aleph/Borges", "-/Silent", "Orlando/Woolf", "The Waves/Woolf",
      ])
  }

  @Test("are compared with values, nil fitting no order and being unequal to all")
  func conditions() async throws {
    func authors(_ condition: (MaybeFields<Book>, Fields<Author>) -> SQLExpression<Bool>) async throws -> [String] {
      try await replica.fetch(
        Self.right.where(condition).order { book, author in [author.name.ascending, book.title.ascending] }
          .select { $1.name + "/" + ($0.title ?? "-") })
    }
    #expect(try await authors { book, _ in book.id.isNull() } == ["Silent/-"])
    #expect(try await authors { book, _ in book.title == "Orlando" } == ["Woolf/Orlando"])
    #expect(
      try await authors { book, _ in book.title != "Orlando" } == ["Borges/The Aleph", "Silent/-", "Woolf/The Waves"])
    #expect(try await authors { book, _ in book.pages > 220 } == ["Woolf/Orlando", "Woolf/The Waves"])
    #expect(try await authors { book, _ in !(book.pages > 220) } == ["Borges/The Aleph", "Silent/-"])
    #expect(try await authors { book, _ in book.pages.isIn(200...230) } == ["Borges/The Aleph", "Woolf/The Waves"])
    #expect(
      try await authors { book, _ in !book.pages.isIn(200..<230) } == ["Silent/-", "Woolf/Orlando", "Woolf/The Waves"])
    #expect(try await authors { book, _ in book.isLent == true } == ["Woolf/Orlando"])
    #expect(try await authors { book, _ in book.title.hasPrefix("The ") && book.price < 10 } == ["Woolf/The Waves"])
    #expect(try await authors { book, _ in book.title.notLike("the%") } == ["Silent/-", "Woolf/Orlando"])
    let titles = ["Orlando", "The Aleph"]
    #expect(try await authors { book, _ in book.title.isIn(titles) } == ["Borges/The Aleph", "Woolf/Orlando"])
    #expect(try await authors { book, _ in book.title.isNotIn(titles) } == ["Silent/-", "Woolf/The Waves"])
    #expect(
      try await authors { book, author in book.author == author.id && book.subtitle == nil } == [
        "Borges/The Aleph", "Woolf/The Waves",
      ])
    let long = Book.where { $0.pages > 300 }.select { $0.id }
    #expect(
      try await authors { book, _ in !book.id.isIn(long) } == ["Borges/The Aleph", "Silent/-", "Woolf/The Waves"])
  }

  @Test("are compared with each other and with fields of rows that are there")
  func comparisons() async throws {
    func titles(_ condition: (Fields<Book>, MaybeFields<Book>) -> SQLExpression<Bool>) async throws -> [String] {
      try await replica.fetch(
        Self.sequels.where(condition).order { book, _ in [book.title.ascending] }.select { book, _ in book.title })
    }
    #expect(try await titles { $0.pages > $1.pages } == ["Orlando"])
    #expect(try await titles { $1.pages <= $0.pages } == ["Orlando"])
    #expect(try await titles { !($0.price >= $1.price) } == ["Beowulf", "Orlando", "The Aleph", "The Waves"])
    #expect(try await titles { $1.title > $1.subtitle } == [])
    #expect(try await titles { $1.price < $1.price || $1.price == $0.price } == [])
    #expect(try await titles { $0.title != $1.title } == ["Beowulf", "Orlando", "The Aleph", "The Waves"])
  }

  @Test("are computed with by map and ??, as in Swift")
  func mapping() async throws {
    let join = Self.right.order { book, author in [author.name.ascending, book.title.ascending] }
    let rows = try await replica.fetch(
      join.select { book, _ in
        (
          book.pages.map { $0 * 2 + 1 }, book.title.map { $0.uppercased() }, (book.pages ?? 0) + 1,
          book.price.map { $0 < 9 }
        )
      })
    #expect(rows.map(\.0) == [421, nil, 661, 461])
    #expect(rows.map(\.1) == ["THE ALEPH", nil, "ORLANDO", "THE WAVES"])
    #expect(rows.map(\.2) == [211, 1, 331, 231])
    #expect(rows.map(\.3) == [false, nil, true, false])
  }

  @Test("are a set without nil for another query, also when negated")
  func subquery() async throws {
    let novelists = Self.full.where { book, _ in book.pages > 300 || book.id.isNull() }.select { _, author in author.id
    }
    #expect(
      try await replica.fetch(Author.where { $0.id.isIn(novelists) }.order(by: \.name)).map(\.name) == [
        "Silent", "Woolf",
      ])
    let all = Self.left.select { _, author in author.id }
    #expect(try await replica.fetch(Author.where { !$0.id.isIn(all) }).map(\.name) == ["Silent"])
  }

  @Test("of a property that is no column are notInSchema")
  func noColumn() async throws {
    let join = Book.leftJoin(Note.self) { $0.title == $1.title }.where { _, note in note.isSelected == true }
    #expect(await code { try await replica.fetch(join) } == .notInSchema)
  }
}
