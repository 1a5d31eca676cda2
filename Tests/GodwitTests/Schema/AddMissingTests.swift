import Foundation
import Godwit
import Testing

@testable import Godwit
@testable import GodwitEngine

/// The table `page` as versions of a program declare it.
private enum First {
  struct Page: Model {
    static let schema = Schema<Self>("page") {
      Column("title", \.title)
      Column("old", \.old)
    }
    var id = 0
    var title = ""
    var old = ""
  }
}

private enum Second {
  /// New columns between and before the old ones, one of those gone, an index, a table.
  struct Page: Model {
    static let schema = Schema<Self>("page") {
      Column("views", \.views).check("views >= 0")
      Column("title", \.title)
      Column("stars", \.stars).default(5)
      Column("author", \.author).references(Author.self, onDelete: .setNull)
      Column("note", \.note)
      Timestamps(created: \.created, updated: \.updated)
      Index(\.title)
    }
    var id = 0
    var title = ""
    var views = 7
    var stars = 0
    var author: Int?
    var note: String?
    var created = Timestamp()
    var updated = Timestamp()
  }
  struct Author: Model {
    static let schema = Schema<Self>("author") { Column("name", \.name) }
    var id = 0
    var name = ""
  }
}

private enum Refused {
  struct Unique: Model {
    static let schema = Schema<Self>("page") { Column("title", \.title).unique() }
    var id = 0
    var title = ""
  }
  struct Undefaulted: Model {
    static let schema = Schema<Self>("page") { Column("made", \.made) }
    var id = 0
    var made = Date()
  }
  struct Referring: Model {
    static let schema = Schema<Self>("page") { Column("author", \.author).references(Second.Author.self) }
    var id = 0
    var author = 0
  }
  struct Unchecked: Model {
    static let schema = Schema<Self>("page") { Column("views", \.views).check("views > 0") }
    var id = 0
    var views = 0
  }
  struct Retyped: Model {
    static let schema = Schema<Self>("page") {
      Column("title", \.title)
      Column("new", \.new)
    }
    var id = 0
    var title = 0
    var new = 0
  }
  struct Optional: Model {
    static let schema = Schema<Self>("page") { Column("title", \.title) }
    var id = 0
    var title: String?
  }
  struct Rekeyed: Model {
    static let schema = Schema<Self>("page", key: "number") { Column("title", \.title) }
    var id = 0
    var title = ""
  }
}

@Suite("Adding what is missing")
struct AddMissingTests {
  private let pair: ReplicaPair
  private var here: String { pair.folder.file("here") }
  private var there: String { pair.folder.file("there") }
  private static let second: [any Model.Type] = [Second.Page.self, Second.Author.self]

  init() async throws {
    pair = try await ReplicaPair(models: [First.Page.self])
    try await pair.sender.write { transaction in
      try transaction.insert((1...3).map { First.Page(id: $0, title: "page \($0)", old: "old \($0)") })
    }
  }

  private func update(_ replica: Replica, at path: String) async throws -> Replica {
    await replica.close()
    return try await ReplicaPair.open(path, Self.second, pair.clock, migrations: .addMissing())
  }

  private func carry(_ sender: Replica, to receiver: Replica) async throws {
    let file = pair.folder.file(UUID().uuidString)
    _ = try await sender.export(to: .file(file), includesAll: true)
    _ = try await receiver.import(from: .file(file))
  }

  @Test("is not done unless asked for")
  func notByDefault() async throws {
    await pair.sender.close()
    let failure = await error { try await ReplicaPair.open(here, Self.second, pair.clock) }
    #expect(failure?.code == .schemaMismatch)
    #expect(failure?.hint?.contains(".addMissing()") == true)
  }

  @Test("leaves every row as it was, with the new columns at their defaults")
  func oldRows() async throws {
    let before = try await pair.sender.rows("SELECT id, title, old FROM page ORDER BY id").map(\.values)
    let replica = try await update(pair.sender, at: here)
    let pages = try await replica.fetch(Second.Page.order(by: \.id))
    #expect(pages.map(\.title) == ["page 1", "page 2", "page 3"])
    #expect(pages.allSatisfy { $0.views == 7 && $0.stars == 5 && $0.author == nil && $0.note == nil })
    #expect(pages.allSatisfy { $0.created.milliseconds == 0 })
    #expect(try await replica.rows("SELECT id, title, old FROM page ORDER BY id").map(\.values) == before)
    let indexes = try await replica.rows("SELECT name FROM sqlite_master WHERE name = 'index_page_on_title'")
    #expect(indexes.count == 1)
    #expect(try await replica.maintenance.verify().problems == [])
  }

  @Test("is done once, and a new check holds")
  func again() async throws {
    let replica = try await update(pair.sender, at: here)
    let sql = try await replica.rows("SELECT sql FROM sqlite_master ORDER BY name").map(\.values)
    await replica.close()
    let again = try await ReplicaPair.open(here, Self.second, pair.clock, migrations: .addMissing())
    #expect(try await again.rows("SELECT sql FROM sqlite_master ORDER BY name").map(\.values) == sql)
    let failure = await error { try await again.write { try $0.insert(Second.Page(id: 9, views: -1)) } }
    #expect(failure?.message == "CHECK constraint failed: page.views")
  }

  @Test("two replicas that both did it exchange the new columns")
  func exchange() async throws {
    let (here, there) = (try await update(pair.sender, at: here), try await update(pair.receiver, at: there))
    try await here.write { transaction in
      try transaction.insert(Second.Author(id: 1, name: "Ada"))
      _ = try transaction.update(Second.Page(id: 1, title: "page 1", views: 8, stars: 1, author: 1, note: "new"))
      for number in 100..<300 { try transaction.insert(Second.Page(id: number, title: "run \(number)", views: number)) }
      try #expect(transaction.delete(Second.Page.self, key: 2))
    }
    try await carry(here, to: there)
    for key in [1, 3, 150, 299] {
      let sent = try await here.fetch(Second.Page.self, key: key)
      let page = try #require(try await there.fetch(Second.Page.self, key: key))
      #expect(page.title == sent?.title && page.views == sent?.views && page.stars == sent?.stars)
      #expect(page.author == sent?.author && page.note == sent?.note && page.updated == sent?.updated)
    }
    #expect(try await there.fetch(Second.Page.self, key: 2) == nil)
    try await there.write { _ = try $0.update(Second.Page(id: 3, title: "back", views: 4, stars: 5)) }
    try await carry(there, to: here)
    #expect(try await here.fetch(Second.Page.self, key: 3)?.views == 4)
    #expect(try await here.maintenance.verify().problems == [])
    #expect(try await there.maintenance.verify().problems == [])
  }

  @Test("a table that gained its columns and one made with them exchange rows by the names of columns")
  func otherOrder() async throws {
    struct Before: Model {
      static let schema = Schema<Self>("sheet") { Column("b", \.b) }
      var id = 0
      var b = 0
    }
    struct After: Model {
      static let schema = Schema<Self>("sheet") {
        Column("a", \.a)
        Column("b", \.b)
        Column("c", \.c)
      }
      var id = 0
      var a = 0
      var b = 0
      var c = 0
    }
    await pair.sender.close()
    await pair.receiver.close()
    await (try ReplicaPair.open(here, [First.Page.self, Before.self], pair.clock)).close()
    let here = try await ReplicaPair.open(here, [After.self], pair.clock, migrations: .addMissing())
    let there = try await ReplicaPair.open(there, [After.self], pair.clock)
    try await here.write { try $0.insert((1...200).map { After(id: $0, a: $0, b: -$0, c: 2 * $0) }) }
    try await carry(here, to: there)
    try await there.write { try $0.insert((201...400).map { After(id: $0, a: $0, b: -$0, c: 2 * $0) }) }
    try await carry(there, to: here)
    for replica in [here, there] {
      let rows = try await replica.fetch(After.all)
      #expect(rows.count == 400 && rows.allSatisfy { $0.a == $0.id && $0.b == -$0.id && $0.c == 2 * $0.id })
    }
    #expect(try await here.maintenance.digest() == there.maintenance.digest())
  }

  @Test("two replicas with the same history have the same content afterwards")
  func sameDigest() async throws {
    try await pair.expectSame()
    let (here, there) = (try await update(pair.sender, at: here), try await update(pair.receiver, at: there))
    try await here.write { _ = try $0.update(Second.Page(id: 1, title: "page 1", views: 8, note: "here")) }
    pair.clock.advance(5)
    try await there.write { _ = try $0.update(Second.Page(id: 1, title: "there", views: 7, stars: 5)) }
    try await carry(here, to: there)
    try await carry(there, to: here)
    #expect(try await here.maintenance.digest() == there.maintenance.digest())
    let page = try #require(try await here.fetch(Second.Page.self, key: 1))
    #expect(page.title == "there" && page.views == 8)
  }

  @Test("a row deleted before comes back with the new columns at their defaults")
  func deletedRows() async throws {
    try await pair.expectSame()
    // Deleted here, and not folded into the row's state before the columns are added.
    try await pair.sender.write { try #expect($0.delete(First.Page.self, key: 1)) }
    pair.clock.advance(5)
    // Edited there without knowing of it.
    try await pair.receiver.write { _ = try $0.update(First.Page(id: 1, title: "edited", old: "old 1")) }
    let (here, there) = (try await update(pair.sender, at: here), try await update(pair.receiver, at: there))
    try await carry(there, to: here)
    let page = try #require(try await here.fetch(Second.Page.self, key: 1))
    #expect(page.title == "edited" && page.views == 7 && page.stars == 5)
    try await carry(here, to: there)
    #expect(try await here.maintenance.digest() == there.maintenance.digest())
  }

  @Test("a row state written before keeps its hidden cells")
  func deletedAndFolded() async throws {
    try await pair.expectSame()
    try await pair.sender.write { try #expect($0.delete(First.Page.self, key: 1)) }
    try await pair.receiver.write { _ = try $0.update(First.Page(id: 2, title: "two", old: "old 2")) }
    try await carry(pair.receiver, to: pair.sender)
    pair.clock.advance(5)
    try await pair.receiver.write { _ = try $0.update(First.Page(id: 1, title: "edited", old: "old 1")) }
    let (here, there) = (try await update(pair.sender, at: here), try await update(pair.receiver, at: there))
    try await carry(there, to: here)
    #expect(try await here.fetch(Second.Page.self, key: 1)?.views == 7)
    try await carry(here, to: there)
    #expect(try await here.maintenance.digest() == there.maintenance.digest())
  }

  @Test("a replica without the column gets it with the file, and its older program still works")
  func withoutTheColumn() async throws {
    try await pair.expectSame()
    let here = try await update(pair.sender, at: here)
    try await here.write { _ = try $0.update(Second.Page(id: 1, title: "changed", views: 8)) }
    let file = pair.folder.file("file")
    _ = try await here.export(to: .file(file))
    let report = try await pair.receiver.import(from: .file(file))
    #expect(report.applied.transactions == 1 && report.waiting.transactions == 0)
    #expect(try await pair.receiver.fetch(First.Page.self, key: 1)?.title == "changed")
    #expect(try await pair.receiver.rows("SELECT views, stars FROM page WHERE id = 1").map(\.values) == [[8, 0]])
    try await pair.receiver.write { try $0.insert(First.Page(id: 70, title: "by the old program", old: "o")) }
    try await carry(pair.receiver, to: here)
    #expect(try await here.fetch(Second.Page.self, key: 70)?.views == 7)
    await pair.receiver.close()
    let again = try await ReplicaPair.open(there, [First.Page.self], pair.clock)
    #expect(try await again.fetch(First.Page.self, key: 70)?.title == "by the old program")
    let there = try await update(again, at: there)
    #expect(try await there.fetch(Second.Page.self, key: 1)?.views == 8)
    #expect(try await there.maintenance.digest() == here.maintenance.digest())
  }

  @Test("changes made without the column are taken in by a replica that has it")
  func fromTheOldProgram() async throws {
    try await pair.expectSame()
    let there = try await update(pair.receiver, at: there)
    try await pair.sender.write { transaction in
      try transaction.insert(First.Page(id: 50, title: "from old", old: "o"))
      _ = try transaction.update(First.Page(id: 1, title: "changed", old: "old 1"))
    }
    try await carry(pair.sender, to: there)
    #expect(try await there.fetch(Second.Page.self, key: 50)?.views == 7)
    #expect(try await there.fetch(Second.Page.self, key: 1)?.title == "changed")
  }

  @Test(
    "two inserts of one row, of which one knows more columns, come out the same in any order", arguments: [true, false])
  func unevenInserts(isNewerFirst: Bool) async throws {
    try await pair.expectSame()
    let here = try await update(pair.sender, at: here)
    for isNewer in [isNewerFirst, !isNewerFirst] {
      pair.clock.advance(1_000)
      if isNewer {
        try await here.write { try $0.insert(Second.Page(id: 60, title: "new", views: 3, note: "n")) }
      } else {
        try await pair.receiver.write { try $0.insert(First.Page(id: 60, title: "old", old: "o")) }
      }
    }
    try await carry(here, to: pair.receiver)
    try await carry(pair.receiver, to: here)
    let there = try await update(pair.receiver, at: there)
    #expect(try await there.fetch(Second.Page.self, key: 60)?.views == (isNewerFirst ? 7 : 3))
    #expect(try await here.maintenance.digest() == there.maintenance.digest())
  }

  /// What its successors add columns to.
  private struct Tally: Model {
    static let schema = Schema<Self>("tally") { Column("title", \.title) }
    var id = 0
    var title = ""
  }

  /// A second after all before.
  private static func write(_ replica: Replica, _ sql: String, _ clock: TestClock) async throws {
    clock.advance(1_000)
    try await replica.write { try $0.execute(SQL(text: sql)) }
  }

  @Test("a counter that was added starts at 0, also in a row that comes back")
  func counterOfOldRow() async throws {
    struct After: Model {
      static let schema = Schema<Self>("tally") {
        Column("title", \.title)
        Column("loans", \.loans, merge: .counter).default(0)
      }
      var id = 0
      var title = ""
      var loans = 0
    }
    let pair = try await ReplicaPair(models: [Tally.self])
    func write(_ replica: Replica, _ sql: String) async throws { try await Self.write(replica, sql, pair.clock) }
    var (here, there) = (pair.sender, pair.receiver)
    try await carry(here, to: there)
    try await carry(there, to: here)
    try await write(here, "INSERT INTO tally VALUES (9, 'forgotten')")
    try await write(there, "INSERT INTO tally VALUES (1, 'beside')")
    try await carry(here, to: there)
    #expect(try await there.maintenance.compact().transactions == 1)
    try await carry(there, to: here)
    await here.close()
    here = try await ReplicaPair.open(here.path, [After.self], pair.clock, migrations: .addMissing())
    try await write(here, "UPDATE tally SET loans = loans + 1 WHERE id = 1")
    try await carry(here, to: there)
    try await write(there, "DELETE FROM tally WHERE id = 1")
    try await write(here, "UPDATE tally SET title = 'edited' WHERE id = 1")
    try await carry(here, to: there)
    await there.close()
    there = try await ReplicaPair.open(there.path, [After.self], pair.clock, migrations: .addMissing())
    for _ in 0..<2 {
      try await carry(there, to: here)
      try await carry(here, to: there)
    }
    for replica in [here, there] {
      #expect(try await replica.rows("SELECT title, loans FROM tally WHERE id = 1").map(\.values) == [["edited", 1]])
    }
    #expect(try await here.maintenance.digest() == there.maintenance.digest())
  }

  @Test("never changes a type, nullability or key, and never adds what old rows could not hold")
  func refused() async throws {
    await pair.sender.close()
    func message(_ model: any Model.Type) async -> String? {
      let failure = await error { try await ReplicaPair.open(here, [model], pair.clock, migrations: .addMissing()) }
      return failure?.code == .schemaMismatch ? failure?.message : nil
    }
    #expect(
      await message(Refused.Retyped.self)
        == "table page differs from its model: column title is text in the database and integer in the model")
    #expect(
      await message(Refused.Unique.self)
        == "table page differs from its model: unique index index_page_on_title is missing in the database")
    #expect(
      await message(Refused.Optional.self)
        == "table page differs from its model: column title is optional only in the model")
    #expect(
      await message(Refused.Rekeyed.self)
        == "table page differs from its model: the primary key is (id) in the database and (number) in the model")
    #expect(
      await message(Refused.Undefaulted.self)
        == "column made of table page cannot be added: it is not optional and has no constant default")
    #expect(
      await message(Refused.Referring.self)
        == "column author of table page cannot be added: "
        + "it refers to another table, and old rows would refer to nothing")
    #expect(
      await message(Refused.Unchecked.self)
        == "column views of table page cannot be added: its default does not pass its check")
    let replica = try await ReplicaPair.open(here, [First.Page.self], pair.clock)
    #expect(try await replica.fetch(First.Page.all).count == 3)
  }
}
