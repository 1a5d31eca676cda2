import Foundation
import Godwit

enum ChangingTablesSamples {
  // begin sample
  struct Book: Model {
    static let schema = Schema<Self>("book") {
      Column("title", \.title)
      Column("slug", \.slug)
      Column("cents", \.cents)
      Column("shelf", \.shelf).references(Shelf.self, onDelete: .setNull)
      Index(\.slug)
    }
    var id = RecordID<Book>()
    var title = ""
    var slug = ""
    var cents = 0
    var shelf: Shelf.ID?
  }

  struct Shelf: Model {
    static let schema = Schema<Self>("shelf") { Column("name", \.name) }
    var id = RecordID<Shelf>()
    var name = ""
  }

  static let migrations = Migrations {
    Migration(1, "books") {
      $0.create("book") {
        $0.column("id", UUID.self)
        $0.column("titel", String.self, default: "")
        $0.column("price", Double.self, default: 0)
      }
    }
    Migration(2, "shelves") {
      $0.create("shelf") {
        $0.column("id", UUID.self)
        $0.column("name", String.self, default: "")
      }
      $0.alter("book") { $0.add("shelf", UUID?.self, references: "shelf", onDelete: .setNull) }
    }
    Migration(3, "English names, exact prices") {
      $0.alter("book") {
        $0.rename("titel", to: "title")
        $0.add("slug", String.self, from: "title", by: "lower(title)", default: "")
        $0.addIndex("slug")
        $0.add("cents", Int.self, from: "price", by: "CAST(round(price * 100) AS INTEGER)", default: 0)
        $0.drop("price")
      }
      $0.run("name the nameless", "UPDATE book SET title = 'Untitled' WHERE title = ''")
    }
  }
  // end sample

  static func run() async throws {
    let first = try await Replica.open(at: "books", models: [], configuration: .init(migrations: migrations.through(1)))
    try await first.write {
      try $0.execute("INSERT INTO book VALUES (x'00112233445566778899AABBCCDDEEFF', 'On Geese', 9.9)")
    }
    await first.close()

    // begin sample
    let replica = try await Replica.open(
      at: "books", models: Book.self, Shelf.self, configuration: .init(migrations: migrations))
    // end sample
    let book = try await replica.first(Book.all)
    try expect(book?.title == "On Geese", book?.slug == "on geese", book?.cents == 990)

    do {
      struct Draft: Model {
        static let schema = Schema<Self>("draft", sync: .local) { Column("text", \.text) }
        var id = RecordID<Draft>()
        var text = ""
      }
      let replica = try await Replica.open(at: "drafts", models: Draft.self)
      try await replica.write { try $0.insert(Draft(text: "Dear reader")) }
      // begin sample
      let rows = try await replica.tables.startSync(of: "draft")
      // end sample
      try expect(rows == 1, try await replica.history.log().count == 1)
      await replica.close()
    }

    // begin sample
    let plan = try await replica.migrations.plan(migrations)  // runs everything and takes it back
    for version in plan.versions { print(version.name, version.isAddition, version.steps, version.rebuilt.map(\.rows)) }
    let status = try await replica.migrations.status()
    print(status.version, status.held?.version ?? 0)  // the version that what newer programs wrote waits for
    // end sample
    try expect(plan.versions.isEmpty, status.version == 3, status.held == nil)

    // begin sample
    try migrations.write(to: "books.migrations")  // for: godwit migrate books.migrations
    let copy = try Migrations(contentsOf: "books.migrations")
    // end sample
    try await expect(replica.migrations.run(copy).versions.isEmpty)
    await replica.close()
  }
}
