import Foundation
import Godwit
import Testing

/// A key of the program's own, and a reference that forbids deleting.
private struct Country: Model {
  static let schema = Schema<Self>("country") {}
  var id = ""
}

private struct City: Model {
  static let schema = Schema<Self>("city") {
    Column("name", \.name)
    Column("country", \.country).references(Country.self, onDelete: .restrict)
  }
  var id = RecordID<City>()
  var name = ""
  var country: String?
}

/// Connects countries and cities, as often as somebody was there.
private struct Visit: Model {
  static let schema = Schema<Self>("visit") {
    Column("country", \.country).references(Country.self, onDelete: .cascade)
    Column("city", \.city).references(City.self, onDelete: .cascade)
  }
  static let cities = HasManyThrough(\Visit.country, \Visit.city, of: Country.self, to: City.self)
  var id = RecordID<Visit>()
  var country = ""
  var city = City.ID()
}

@Suite("A relation")
struct RelationTests {
  private let library: Library
  private var replica: Replica { library.replica }

  init() async throws { library = try await Library() }

  @Test("loads the row a row belongs to along with it (belongs-to)")
  func belongsTo() async throws {
    let rows = try await replica.fetch(Book.order(by: \.title).including(\.author))
    #expect(
      rows.map { "\($0.title)/\($1?.name ?? "-")" } == [
        "Beowulf/-", "Orlando/Woolf", "The Aleph/Borges", "The Waves/Woolf",
      ])
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
    #expect(
      rows.map { "\($0.name): \($1.map(\.title).joined(separator: ", "))" } == [
        "Borges: The Aleph", "Silent: ", "Woolf: Orlando, The Waves",
      ])
  }

  @Test("loads so many of each row's rows, skips so many, and takes them from the query it loads for")
  func limitOfEach() async throws {
    let library = library
    try await replica.write { transaction in
      for number in 1...4 {
        try transaction.insert(Book(title: "W\(number)", pages: number, author: library.woolf.id))
        try transaction.insert(Book(title: "B\(number)", pages: number * 100, isLent: true, author: library.borges.id))
      }
    }
    func titles(_ query: Query<Author>, _ refine: @escaping @Sendable (Query<Book>) -> Query<Book>) async throws
      -> [String]
    {
      let rows = try await replica.fetch(query.including(Author.books.refined(refine)))
      for (author, books) in rows {
        #expect(try await replica.fetch(Author.books.refined(refine).of(author)).map(\.id) == books.map(\.id))
      }
      return rows.map { "\($0.name): \($1.map(\.title).joined(separator: ", "))" }
    }
    let byName = Author.order(by: \.name)
    #expect(
      try await titles(byName) { $0.order(by: \.pages, .descending).limit(2) }
        == ["Borges: B4, B3", "Silent: ", "Woolf: Orlando, The Waves"])
    #expect(
      try await titles(byName) { $0.order(by: \.pages).limit(2).offset(3) }
        == ["Borges: B3, B4", "Silent: ", "Woolf: W4, The Waves"])
    #expect(
      try await titles(byName) { $0.order(by: \.pages).offset(4) } == [
        "Borges: B4", "Silent: ", "Woolf: The Waves, Orlando",
      ])
    #expect(
      try await titles(byName) { $0.where { !$0.isLent || $0.pages > 250 }.order(by: \.title).limit(1) }
        == ["Borges: B3", "Silent: ", "Woolf: Orlando"])
    #expect(
      try await titles(byName.limit(1).offset(2)) { $0.order(by: \.pages).limit(2) } == ["Woolf: W1, W2"])
    #expect(try await titles(byName) { $0.limit(0) } == ["Borges: ", "Silent: ", "Woolf: "])
    let negative = Author.all.including(Author.books.refined { $0.limit(-1) })
    #expect(await code { try await replica.fetch(negative) } == .invalidArgument)
  }

  @Test("limits each row's rows of its own table, too")
  func limitOfItself() async throws {
    let library = library
    try await replica.write { transaction in
      for number in 1...3 {
        try transaction.insert(Book(title: "sequel \(number)", pages: number, sequelOf: library.aleph.id))
      }
    }
    let sequels = HasMany(\Book.sequelOf).refined { $0.order(by: \.pages, .descending).limit(2) }
    let rows = try await replica.fetch(Book.where { $0.pages > 200 }.order(by: \.title).including(sequels))
    #expect(rows.map { $1.map(\.title) } == [[], ["sequel 3", "sequel 2"], ["Orlando"]])
  }

  @Test("gives a row once that two rows connect, as when two replicas added it, and removes it whole")
  func throughTwoLinks() async throws {
    let folder = try TemporaryFolder()
    let replica = try await Replica.open(at: folder.file("r"), models: Country.self, City.self, Visit.self)
    let (linz, graz) = (City(name: "Linz"), City(name: "Graz"))
    let (first, second) = (Country(id: "at"), Country(id: "is"))
    try await replica.write { transaction in
      try transaction.insert([first, second])
      try transaction.insert([linz, graz])
      for (country, city) in [(first, linz), (first, linz), (first, graz), (second, linz)] {
        try transaction.insert(Visit(country: country.id, city: city.id))
      }
    }
    let rows = try await replica.fetch(Country.order(by: \.id).including(Visit.cities))
    #expect(rows.map { $1.map(\.name).sorted() } == [["Graz", "Linz"], ["Linz"]])
    #expect(try await replica.count(Visit.cities.of(first)) == 2)
    try await replica.write { transaction in
      let isNew = try transaction.add(linz, to: first, Visit.cities)
      #expect(!isNew)
      #expect(try transaction.remove(linz, from: first, Visit.cities))
      #expect(try transaction.fetch(Visit.cities.of(first)).map(\.name) == ["Graz"])
    }
    await replica.close()
  }

  @Test("loads the rows that others connect (has-many-through), and several relations at once")
  func through() async throws {
    let rows = try await replica.fetch(
      Book.order(by: \.title).including(Book.genres).including(BelongsTo(\Book.author)))
    #expect(
      rows.map { "\($0.title) \($1.map(\.name).sorted()) \($2?.name ?? "-")" } == [
        "Beowulf [] -", "Orlando [\"novel\"] Woolf", "The Aleph [\"novel\", \"story\"] Borges",
        "The Waves [\"novel\"] Woolf",
      ])
  }

  @Test("loads along what others connect in an order and by a condition, but not so many")
  func throughRefined() async throws {
    let replica = replica
    let genres = Book.genres.refined { $0.order(by: \.name, .descending) }
    let rows = try await replica.fetch(Book.order(by: \.title).including(genres))
    #expect(rows.map { $1.map(\.name) } == [[], ["novel"], ["story", "novel"], ["novel"]])
    let stories = genres.refined { $0.where { $0.name == "story" } }
    #expect(
      try await replica.fetch(Book.order(by: \.title).including(stories)).map { $1.count } == [0, 0, 1, 0])
    #expect(try await replica.fetch(genres.of(library.aleph)).map(\.name) == ["story", "novel"])
    let first = genres.refined { $0.limit(1) }
    #expect(try await replica.fetch(first.of(library.aleph)).map(\.name) == ["story"])
    #expect(await code { try await replica.fetch(Book.all.including(first)) } == .invalidArgument)
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

  @Test("is observed through the rows that connect, too", .timeLimit(.minutes(1)))
  func observed() async throws {
    let library = library
    var genres = replica.observe(Book.genres.of(library.waves).order(by: \.name)).makeAsyncIterator()
    #expect(try await genres.next()?.map(\.name) == ["novel"])
    try await replica.write { _ = try $0.add(library.story, to: library.waves, Book.genres) }
    #expect(try await genres.next()?.map(\.name) == ["novel", "story"])
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

  @Test("on delete: restrict keeps the row, and what refers to it")
  func restrict() async throws {
    let folder = try TemporaryFolder()
    let replica = try await Replica.open(at: folder.file("r"), models: Country.self, City.self)
    try await replica.write { transaction in
      try transaction.insert(Country(id: "at"))
      try transaction.insert([City(name: "Linz", country: "at"), City(name: "Graz", country: "at")])
    }
    #expect(await code { try await replica.write { try $0.delete(Country.self, key: "at") } } == .constraint)
    #expect(try await replica.count(Country.all) == 1)
    #expect(try await replica.count(City.all) == 2)
    await replica.close()
  }

  @Test("goes through keys that are no record IDs too")
  func otherKeys() async throws {
    let folder = try TemporaryFolder()
    let replica = try await Replica.open(at: folder.file("r"), models: Country.self, City.self)
    try await replica.write { transaction in
      try transaction.insert([Country(id: "at"), Country(id: "is")])
      try transaction.insert([City(name: "Linz", country: "at"), City(name: "Nowhere")])
    }
    let cities = try await replica.fetch(City.order(by: \.name).including(BelongsTo(\City.country, Country.self)))
    #expect(cities.map { $1?.id } == ["at", nil])
    let countries = try await replica.fetch(Country.order(by: \.id).including(HasMany(\City.country, of: Country.self)))
    #expect(countries.map { $1.map(\.name) } == [["Linz"], []])
    await replica.close()
  }

  @Test("takes one statement more for each relation, however many rows there are")
  func statementCount() async throws {
    let lines = StatementLines()
    let folder = try TemporaryFolder()
    let replica = try await Replica.open(
      at: folder.file("r"), models: Author.self, Book.self, Genre.self, Shelving.self,
      configuration: .init(statements: .redacted, logger: lines.logger))
    for count in [3, 300] {
      try await replica.write { transaction in
        for number in 0..<count {
          let author = try transaction.insert(Author(name: "\(number)"))
          try transaction.insert(Book(title: "\(number)", author: author.id))
        }
      }
      lines.clear()
      _ = try await replica.fetch(Author.where { $0.name != "" }.including(Author.books))
      #expect(lines.selects == 2)
      lines.clear()
      _ = try await replica.fetch(Book.all.including(Book.genres).including(\.author))
      #expect(lines.selects == 3)
      lines.clear()
      _ = try await replica.fetch(Author.all.including(Author.books.refined { $0.order(by: \.title).limit(1) }))
      #expect(lines.selects == 2)
    }
    await replica.close()
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

  @Test("distinguishes keys that Unicode takes for one", arguments: [true, false])
  func twoForms(isLimited: Bool) async throws {
    let folder = try TemporaryFolder()
    let replica = try await Replica.open(at: folder.file("forms"), models: Country.self, City.self, Visit.self)
    let keys = ["\u{e9}", "e\u{301}"]
    try await replica.write { transaction in
      try transaction.insert(keys.map { Country(id: $0) })
      for key in keys { try transaction.insert(City(name: key, country: key)) }
    }
    let countries = isLimited ? Country.all.limit(9) : Country.all
    let rows = try await replica.fetch(countries.including(HasMany(\City.country, of: Country.self)))
    #expect(rows.count == 2)
    for (country, cities) in rows { #expect(cities.map { Array($0.name.utf8) } == [Array(country.id.utf8)]) }
    let cities = isLimited ? City.all.limit(9) : City.all
    for (city, country) in try await replica.fetch(cities.including(BelongsTo(\City.country, Country.self))) {
      #expect(country.map { Array($0.id.utf8) } == Array(city.name.utf8))
    }
    await replica.close()
  }
}
