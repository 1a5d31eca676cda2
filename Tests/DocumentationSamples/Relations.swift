import Godwit

enum RelationsSamples {
  // begin sample
  struct Author: Model {
    static let schema = Schema<Self>("author") { Column("name", \.name) }
    static let books = HasMany(\Book.author)
    var id = RecordID<Author>()
    var name = ""
  }

  struct Book: Model {
    static let schema = Schema<Self>("book") {
      Column("title", \.title)
      Column("author", \.author).references(Author.self, onDelete: .setNull)
    }
    static let genres = HasManyThrough(\Shelving.book, \Shelving.genre)
    var id = RecordID<Book>()
    var title = ""
    var author: Author.ID?
  }

  struct Genre: Model {
    static let schema = Schema<Self>("genre") { Column("name", \.name) }
    var id = RecordID<Genre>()
    var name = ""
  }

  /// Connects a book with a genre, once.
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
  // end sample

  static func run() async throws {
    let replica = try await Replica.open(
      at: "library", models: Author.self, Book.self, Genre.self, Shelving.self)

    // begin sample
    try await replica.write { transaction in
      let author = Author(name: "Woolf")
      let novel = Genre(name: "novel")
      try transaction.insert(author)
      try transaction.insert(novel)

      let waves = try transaction.add(Book(title: "The Waves"), to: author, Author.books)
      try transaction.add(novel, to: waves, Book.genres)
      let isNew = try transaction.add(novel, to: waves, Book.genres)  // false: they are connected

      let count = try transaction.count(Author.books.of(author))
      print(isNew, count)  // false 1
    }
    // end sample
    try await expect(replica.count(Shelving.all) == 1)

    // begin sample
    let books = try await replica.fetch(
      Book.order(by: \.title).including(\.author).including(Book.genres))
    for (book, author, genres) in books {
      print(book.title, author?.name ?? "-", genres.map(\.name))
    }

    let byTitle = Author.books.refined { $0.order(by: \.title) }
    for (author, books) in try await replica.fetch(Author.all.including(byTitle)) {
      print(author.name, books.map(\.title))
    }
    // end sample
    try expect(books.count == 1 && books[0].1?.name == "Woolf" && books[0].2.map(\.name) == ["novel"])

    // begin sample
    try await replica.write { transaction in
      guard let author = try transaction.first(Author.all) else { return }
      for book in try transaction.fetch(Author.books.of(author)) {
        for genre in try transaction.fetch(Book.genres.of(book)) {
          try transaction.remove(genre, from: book, Book.genres)  // deletes the connecting row
        }
        try transaction.remove(book, from: author, Author.books)  // its author becomes nil
      }
      try transaction.delete(author)
    }
    // end sample
    try await expect(replica.count(Shelving.all) == 0, replica.count(Genre.all) == 1)
    try await expect(replica.count(Author.all) == 0, replica.fetch(Book.all).map(\.author) == [nil])
    await replica.close()
  }
}
