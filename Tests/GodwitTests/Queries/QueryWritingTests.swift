import Foundation
import Godwit
import Testing

private struct Odd: Model {
  static let schema = Schema<Self>("odd") { Column("_rowid_", \.number) }
  var id = 0
  var number = ""
}

@Suite("Writing through a query")
struct QueryWritingTests {
  private let library: Library
  private var replica: Replica { library.replica }

  init() async throws { library = try await Library() }

  @Test("updates by expression and by value, only the rows found, and says how many")
  func update() async throws {
    let name = "renamed"
    let count = try await replica.write { transaction in
      try transaction.update(Book.where { $0.pages > 220 }) {
        $0.pages += 10
        $0.price = $0.price * 2 + 1
        $0.set(\.title, to: name)
        $0.subtitle = .value(nil)
        $0.set(\.isLent, to: true)
      }
    }
    #expect(count == 2)
    let rows = try await replica.fetch(Book.order(by: \.pages).select { ($0.title, $0.pages, $0.price, $0.subtitle) })
    #expect(rows.map(\.0) == ["Beowulf", "The Aleph", name, name])
    #expect(rows.map(\.1) == [150, 210, 240, 340])
    #expect(rows.map(\.2) == [5, 12, 20, 17])
    #expect(rows.map(\.3) == ["100% old", nil, nil, nil])
  }

  @Test("updates by column name, and refuses a name that is no column")
  func names() async throws {
    let replica = replica
    #expect(
      try await replica.write { try $0.update(Book.all, set: ["title": .text("same"), "pages": .integer(1)]) } == 4)
    #expect(try await replica.fetch(Book.select { $0.title }.distinct()) == ["same"])
    #expect(await code { try await replica.write { try $0.update(Book.all, set: ["nothing": .null]) } } == .notInSchema)
    #expect(try await replica.write { try $0.update(Book.all, set: [:]) } == 0)
  }

  @Test("updates and deletes the rows of a limited and sorted query only")
  func limited() async throws {
    let replica = replica
    #expect(
      try await replica.write {
        try $0.update(Book.order(by: \.pages, .descending).limit(1)) { $0.set(\.title, to: "longest") }
      } == 1)
    #expect(try await replica.fetch(Book.where { $0.title == "longest" }).map(\.pages) == [330])
    #expect(try await replica.write { try $0.delete(Book.order(by: \.pages).offset(2)) } == 2)
    #expect(try await replica.fetch(Book.order(by: \.pages)).map(\.title) == ["Beowulf", "The Aleph"])
  }

  @Test("refuses to set a column twice, of which SQL would keep one")
  func twice() async throws {
    let replica = replica
    #expect(
      await code {
        try await replica.write { transaction in
          try transaction.update(Book.all) {
            $0.pages += 1
            $0.pages += 1
          }
        }
      } == .invalidArgument)
  }

  @Test("deletes by filter and all, and returns how many")
  func delete() async throws {
    let replica = replica
    #expect(try await replica.write { try $0.delete(Book.where { $0.isLent }) } == 1)
    #expect(try await replica.write { try $0.delete(Book.all) } == 3)
    #expect(try await replica.write { try $0.delete(Book.all) } == 0)
    #expect(try await replica.count(Author.all) == 3)
  }

  @Test("of a model the replica was not opened with is notInSchema, and of a negative limit invalidArgument")
  func refusals() async throws {
    let replica = replica
    #expect(await code { try await replica.write { try $0.delete(Note.all) } } == .notInSchema)
    #expect(await code { try await replica.write { try $0.update(Note.all) { $0.views += 1 } } } == .notInSchema)
    #expect(
      await code { try await replica.write { try $0.update(Note.all, set: ["views": .integer(1)]) } } == .notInSchema)
    #expect(await code { try await replica.write { try $0.execute("DELETE FROM note") } } == .sql)
    #expect(await code { try await replica.write { try $0.delete(Book.all.limit(-1)) } } == .invalidArgument)
    #expect(
      await code { try await replica.write { try $0.update(Book.all.offset(-1)) { $0.pages = .value(0) } } }
        == .invalidArgument)
    let keys = Book.all.limit(-1).select { $0.id }
    #expect(await code { try await replica.fetch(Book.where { $0.id.isIn(keys) }) } == .invalidArgument)
    #expect(try await replica.count(Book.all) == 4)
  }

  @Test("is captured: another replica gets it")
  func captured() async throws {
    let group = try await TestGroup(2)
    try await group[0].write { transaction in
      for number in 0..<20 { try transaction.insert(Note(title: "note \(number)", views: number)) }
    }
    try await group[0].write { transaction in
      try transaction.update(Note.where { $0.views >= 10 }) { $0.views -= 10 }
      try transaction.delete(Note.where { $0.title.hasSuffix("7") })
    }
    try await group.send(from: 0, to: 1)
    #expect(try await group[1].count(Note.all) == 18)
    #expect(try await group.digests().count == 1)
  }

  @Test("a limit counts where a column has a name that SQLite has for the row's number")
  func rowNumber() async throws {
    let folder = try TemporaryFolder()
    let replica = try await Replica.open(at: folder.file("odd"), models: Odd.self)
    try await replica.write { try $0.insert((0..<3).map { Odd(id: $0, number: "x") }) }
    #expect(try await replica.write { try $0.delete(Odd.order(by: \.id).limit(1)) } == 1)
    #expect(try await replica.fetch(Odd.all).map(\.id).sorted() == [1, 2])
    await replica.close()
  }
}
