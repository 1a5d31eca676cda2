import Foundation
import Godwit

/// Models with every kind of relation.
struct Author: Model {
  static let schema = Schema<Self>("author") { Column("name", \.name) }
  static let books = HasMany(\Book.author)
  var id = RecordID<Author>()
  var name = ""
}

struct Book: Model {
  static let schema = Schema<Self>("book") {
    Column("title", \.title)
    Column("pages", \.pages)
    Column("price", \.price)
    Column("is_lent", \.isLent)
    Column("subtitle", \.subtitle)
    Column("author", \.author).references(Author.self, onDelete: .setNull)
    Column("sequel_of", \.sequelOf).references(Book.self, onDelete: .setNull)
  }
  static let genres = HasManyThrough(\Shelving.book, \Shelving.genre)
  var id = RecordID<Book>()
  var title = ""
  var pages = 0
  var price = 0.0
  var isLent = false
  var subtitle: String?
  var author: Author.ID?
  var sequelOf: Book.ID?
}

struct Genre: Model {
  static let schema = Schema<Self>("genre") { Column("name", \.name) }
  var id = RecordID<Genre>()
  var name = ""
}

struct Shelving: Model {
  static let schema = Schema<Self>("shelving") {
    Column("book", \.book).references(Book.self, onDelete: .cascade)
    Column("genre", \.genre).references(Genre.self, onDelete: .cascade)
    Index(\.book, \.genre).unique()
  }
  var id = RecordID<Shelving>()
  var book = Book.ID()
  var genre = Genre.ID()
}

/// A copy of a parent that must exist, and goes with it.
struct Copy: Model {
  static let schema = Schema<Self>("copy") {
    Column("book", \.book).references(Book.self, onDelete: .cascade)
    Column("shelf", \.shelf)
  }
  static let ofBook = HasMany(\Copy.book)
  var id = RecordID<Copy>()
  var book = Book.ID()
  var shelf = ""
}

/// Two authors with books, one without, one book without author; genres; a sequel.
struct Library {
  let folder: TemporaryFolder
  let replica: Replica
  let woolf = Author(name: "Woolf")
  let borges = Author(name: "Borges")
  let silent = Author(name: "Silent")
  let waves: Book
  let orlando: Book
  let aleph: Book
  let anonymous: Book
  let novel = Genre(name: "novel")
  let story = Genre(name: "story")

  init() async throws {
    folder = try TemporaryFolder()
    replica = try await Replica.open(
      at: folder.file("library"), models: Author.self, Book.self, Genre.self, Shelving.self, Copy.self)
    waves = Book(title: "The Waves", pages: 230, price: 9.5, author: woolf.id)
    orlando = Book(
      title: "Orlando", pages: 330, price: 8, isLent: true, subtitle: "A Biography", author: woolf.id,
      sequelOf: waves.id)
    aleph = Book(title: "The Aleph", pages: 210, price: 12, author: borges.id)
    anonymous = Book(title: "Beowulf", pages: 150, price: 5, subtitle: "100% old")
    let (library, authors, books) = (self, [woolf, borges, silent], [waves, orlando, aleph, anonymous])
    try await replica.write { transaction in
      try transaction.insert(authors)
      try transaction.insert(books)
      try transaction.insert([library.novel, library.story])
      for book in [library.waves, library.orlando] { try transaction.add(library.novel, to: book, Book.genres) }
      try transaction.add(library.story, to: library.aleph, Book.genres)
      try transaction.add(library.novel, to: library.aleph, Book.genres)
    }
  }
}
