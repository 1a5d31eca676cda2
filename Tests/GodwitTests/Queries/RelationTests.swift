import Foundation
import Godwit
import Testing

@Suite("A relation")
struct RelationTests {
  private let library: Library
  private var replica: Replica { library.replica }

  init() async throws { library = try await Library() }

  @Test("loads the row a row belongs to along with it (belongs-to)")
  func belongsTo() async throws {
    let rows = try await replica.fetch(Book.order(by: \.title).including(\.author))
    #expect(rows.map { "\($0.title)/\($1?.name ?? "-")" } == ["Beowulf/-", "Orlando/Woolf", "The Aleph/Borges", "The Waves/Woolf"])
    let copies = try await replica.write { [library] transaction in
      try transaction.insert(Copy(book: library.aleph.id, shelf: "A"))
      return try transaction.fetch(Copy.all.including(\.book))
    }
    #expect(copies.map { $1?.title } == ["The Aleph"])
  }

  @Test("loads the rows a row has along with it (has-many), in a chosen order")
  func hasMany() async throws {
    let byPages = Author.books.refined { $0.order(by: \.pages, .descending) }
    let rows = try await replica.fetch(Author.order(by: \.name).including(byPages))
    #expect(rows.map { "\($0.name): \($1.map(\.title).joined(separator: ", "))" } == ["Borges: The Aleph", "Silent: ", "Woolf: Orlando, The Waves"])
  }

  @Test("loads the rows that others connect (has-many-through), and several relations at once")
  func through() async throws {
    let rows = try await replica.fetch(Book.order(by: \.title).including(Book.genres).including(BelongsTo(\Book.author)))
    #expect(
      rows.map { "\($0.title) \($1.map(\.name).sorted()) \($2?.name ?? "-")" } == [
        "Beowulf [] -", "Orlando [\"novel\"] Woolf", "The Aleph [\"novel\", \"story\"] Borges", "The Waves [\"novel\"] Woolf",
      ])
  }

  @Test("loads only what belongs to the rows of a limited query", arguments: [0, 1, 2, 700])
  func limited(count: Int) async throws {
    let replica = replica
    try await replica.write { transaction in
      for number in 0..<600 {
        let author = Author(name: "author \(number)")
        try transaction.insert(author)
        try transaction.insert(Book(title: "book \(number)", author: author.id))
      }
    }
    let rows = try await replica.fetch(Author.order(by: \.name).limit(count).including(Author.books))
    #expect(rows.count == min(count, 603))
    for (author, books) in rows where author.name.hasPrefix("author") {
      #expect(books.map(\.title) == [author.name.replacing("author", with: "book")])
    }
  }

  @Test("adds a child, counts it before and after the parent is saved, and removes it")
  func addAndRemove() async throws {
    try await replica.write { transaction in
      let author = Author(name: "New")
      #expect(try transaction.count(Author.books.of(author)) == 0)
      let book = try transaction.add(Book(title: "First"), to: author, Author.books)
      try transaction.add(Book(title: "Second"), to: author, Author.books)
      #expect(book.author == author.id)
      #expect(try transaction.count(Author.books.of(author)) == 2)
      try transaction.insert(author)
      #expect(try transaction.count(Author.books.of(author)) == 2)
      #expect(try transaction.remove(book, from: author, Author.books))
      #expect(try !transaction.remove(book, from: author, Author.books))
      #expect(try transaction.fetch(Author.books.of(author)).map(\.title) == ["Second"])
      #expect(try transaction.fetch(Book.self, key: book.id)?.author == nil)
    }
  }

  @Test("deletes a removed child that must have a parent")
  func removeDependent() async throws {
    let book = library.waves
    try await replica.write { transaction in
      let copy = try transaction.add(Copy(shelf: "B"), to: book, Copy.ofBook)
      #expect(try transaction.remove(copy, from: book, Copy.ofBook))
      #expect(try transaction.fetch(Copy.self, key: copy.id) == nil)
    }
  }

  @Test("connects two rows once, however often they are added, and removing deletes the connecting row alone")
  func throughTwice() async throws {
    let library = library
    try await replica.write { transaction in
      let isNew = try transaction.add(library.story, to: library.waves, Book.genres)
      #expect(isNew)
      #expect(try !transaction.add(library.story, to: library.waves, Book.genres))
      #expect(try transaction.count(Shelving.where { $0.book == library.waves.id }) == 2)
      #expect(try transaction.remove(library.story, from: library.waves, Book.genres))
      #expect(try !transaction.remove(library.story, from: library.waves, Book.genres))
      #expect(try transaction.fetch(Book.genres.of(library.waves)).map(\.name) == ["novel"])
      #expect(try transaction.fetch(Genre.self, key: library.story.id) != nil)
    }
  }

  @Test("on delete: cascade takes dependents, set null keeps them, and unrelated rows stay")
  func onDelete() async throws {
    let library = library
    try await replica.write { transaction in
      try transaction.add(Copy(shelf: "C"), to: library.waves, Copy.ofBook)
      try transaction.add(Copy(shelf: "D"), to: library.aleph, Copy.ofBook)
      try transaction.delete(library.waves)
      #expect(try transaction.fetch(Copy.all).map(\.shelf) == ["D"])
      #expect(try transaction.fetch(Book.self, key: library.orlando.id)?.sequelOf == nil)
      #expect(try transaction.count(Shelving.all) == 3)
      try transaction.delete(library.woolf)
      #expect(try transaction.count(Book.all) == 3)
      #expect(try transaction.fetch(Book.self, key: library.orlando.id)?.author == nil)
    }
  }
}
