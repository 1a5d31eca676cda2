import Foundation
import Godwit
import Testing

private struct Label: Model {
  static let schema = Schema<Self>("tag", key: "name") {}
  var id = ""
}

/// A join table: a key of two references and one column beside it.
private struct Tagging: Model {
  static let schema = Schema<Self>("tagging") {
    Key(
      Column("note", \.note).references(Note.self, onDelete: .cascade),
      Column("tag", \.tag).references(Label.self, onDelete: .cascade))
    Column("weight", \.weight)
  }
  var note = Note.ID()
  var tag = ""
  var weight = 0
  var id: PairKey<Note.ID, String> {
    get { PairKey(note, tag) }
    set { (note, tag) = (newValue.first, newValue.second) }
  }
}

/// A stored key of three columns, and no other.
private struct Cell: Model {
  static let schema = Schema<Self>("cell") {
    Key(Column("sheet", \.id.first), Column("row", \.id.second.first), Column("column", \.id.second.second))
  }
  var id = PairKey("", PairKey(0, 0))
}

private struct Swapped: Model {
  static let schema = Schema<Self>("swapped") { Key(Column("a", \.a), Column("b", \.b)) }
  var a = UUID()
  var b = UUID()
  var id: PairKey<UUID, UUID> {
    get { PairKey(b, a) }
    set { (b, a) = (newValue.first, newValue.second) }
  }
}
private struct Undeclared: Model {
  static let schema = Schema<Self>("undeclared") {}
  var id = PairKey(0, 0)
}
private struct Referrer: Model {
  static let schema = Schema<Self>("referrer") { Column("cell", \.cell).references(Cell.self) }
  var id = 0
  var cell = ""
}

@Suite("A key of several columns")
struct CompositeKeyTests {
  private let pair: ReplicaPair
  private let note = Note(title: "note")
  private let models: [any Model.Type] = [Folder.self, Note.self, Label.self, Tagging.self, Cell.self]

  init() async throws {
    pair = try await ReplicaPair(models: models)
    let note = note
    try await pair.sender.write { transaction in
      try transaction.insert(note)
      try transaction.insert([Label(id: "a"), Label(id: "b"), Label(id: "c")])
    }
  }

  @Test("finds, updates, saves and deletes one row")
  func writes() async throws {
    let note = note
    try await pair.sender.write { transaction in
      try transaction.insert([Tagging(note: note.id, tag: "a", weight: 1), Tagging(note: note.id, tag: "b", weight: 2)])
      try #expect(transaction.update(Tagging(note: note.id, tag: "a", weight: 10)))
      try #expect(transaction.update(Tagging(note: note.id, tag: "a", weight: 10)) == false)
      try transaction.save(Tagging(note: note.id, tag: "b", weight: 20))
      try transaction.save(Tagging(note: note.id, tag: "c", weight: 30))
      try #expect(transaction.fetch(Tagging.self, key: PairKey(note.id, "b"))?.weight == 20)
      try #expect(transaction.delete(Tagging.self, key: PairKey(note.id, "c")))
      try #expect(transaction.delete(Tagging.self, key: PairKey(note.id, "c")) == false)
      #expect(throws: GodwitError.self) { try transaction.insert(Tagging(note: note.id, tag: "a")) }
      #expect(throws: GodwitError.self) { try transaction.update(Tagging(note: note.id, tag: "c")) }
    }
    try await pair.expectSame()
    let received = try await pair.receiver.fetch(Tagging.order(by: \.tag))
    #expect(received.map(\.tag) == ["a", "b"] && received.map(\.weight) == [10, 20])
    #expect(try await pair.receiver.fetch(Tagging.self, key: PairKey(note.id, "a"))?.weight == 10)
  }

  @Test("may be all there is to a row, also in a long run")
  func onlyKeys() async throws {
    try await pair.sender.write { transaction in
      for row in 0..<40 {
        for column in 0..<5 { try transaction.insert(Cell(id: PairKey("s", PairKey(row, column)))) }
      }
      try #expect(transaction.delete(Cell.self, key: PairKey("s", PairKey(7, 3))))
      try transaction.save(Cell(id: PairKey("s", PairKey(7, 4))))
    }
    try await pair.expectSame()
    #expect(try await pair.receiver.count(Cell.all) == 199)
    #expect(try await pair.receiver.fetch(Cell.self, key: PairKey("s", PairKey(7, 3))) == nil)
    #expect(try await pair.receiver.fetch(Cell.self, key: PairKey("s", PairKey(39, 4)))?.id.second.first == 39)
  }

  @Test("merges both replicas' columns, and keeps what lost")
  func merges() async throws {
    let note = note
    try await pair.sender.write { try $0.insert(Tagging(note: note.id, tag: "a", weight: 1)) }
    try await pair.expectSame()
    try await pair.receiver.write { _ = try $0.update(Tagging(note: note.id, tag: "a", weight: 2)) }
    pair.clock.advance(5)
    try await pair.sender.write { _ = try $0.update(Tagging(note: note.id, tag: "a", weight: 3)) }
    #expect(try await pair.carry().attention.conflicts == 1)
    #expect(try await pair.receiver.fetch(Tagging.all).map(\.weight) == [3])
    #expect(try await pair.receiver.conflicts.list().first?.key.count == 2)
  }

  @Test("changes by SQL as a delete and an insert, and follows its references")
  func keyChange() async throws {
    let note = note
    try await pair.sender.write { transaction in
      try transaction.insert([Tagging(note: note.id, tag: "a", weight: 1), Tagging(note: note.id, tag: "b", weight: 2)])
    }
    try await pair.sender.write { _ = try $0.execute("UPDATE tagging SET tag = 'c' WHERE tag = 'a'") }
    #expect(try await pair.sender.latestCounts() == ChangeCounts(1, 0, 1))
    try await pair.sender.write { _ = try $0.delete(Label.self, key: "b") }
    #expect(try await pair.sender.latestCounts() == ChangeCounts(0, 0, 2))
    try await pair.expectSame()
    #expect(try await pair.receiver.fetch(Tagging.all).map(\.tag) == ["c"])
  }

  @Test("is compared as a whole, column by column")
  func queries() async throws {
    let note = note
    try await pair.sender.write { transaction in
      for tag in ["a", "b", "c"] { try transaction.insert(Tagging(note: note.id, tag: tag, weight: 1)) }
    }
    func tags(_ query: Query<Tagging>) async throws -> [String] {
      try await pair.sender.fetch(query.order { [$0.id.descending] }).map(\.tag)
    }
    #expect(try await tags(Tagging.where { $0.note == note.id && $0.tag == "a" }) == ["a"])
    #expect(try await tags(Tagging.where { $0.id == PairKey(note.id, "a") }) == ["a"])
    #expect(try await tags(Tagging.where { PairKey(note.id, "a") != $0.id }) == ["c", "b"])
    #expect(
      try await tags(Tagging.where { $0.id.isIn([PairKey(note.id, "a"), PairKey(note.id, "c")]) }) == ["c", "a"])
    #expect(try await tags(Tagging.where { !$0.id.isIn([PairKey(note.id, "a")]) && $0.weight == 1 }) == ["c", "b"])
    #expect(try await tags(Tagging.where { $0.id.isIn([]) }) == [])
    #expect(try await pair.sender.fetch(Tagging.select { $0.id.count() }) == [3])
    let same = Tagging.leftJoin(Tagging.self) { $0.id == $1.id && $1.tag != "b" }
    #expect(try await pair.sender.count(same.where { $1.id.isNull() }) == 1)
    #expect(try await pair.sender.count(same.where { $1.id == PairKey(note.id, "c") }) == 1)
    #expect(try await pair.sender.count(same.where { $1.id != PairKey(note.id, "c") }) == 2)
  }

  @Test("is the SQL of its columns, at any depth of the key")
  func sql() throws {
    #expect(
      try Cell.where { $0.id == PairKey("s", PairKey(1, 2)) }.select { $0.id.count() }.sql.text
        == #"SELECT count(`sheet`) FROM "cell" WHERE `sheet` = ? AND `row` = ? AND `column` = ?"#)
  }

  @Test("is no value to select, and too many keys are refused")
  func refused() async throws {
    let selected = await error { try await pair.sender.fetch(Cell.where { $0.id.isIn(Cell.select { $0.id }) }) }
    #expect(selected?.code == .invalidSchema)
    let keys = (0..<400).map { PairKey("s", PairKey($0, 0)) }
    let listed = await error { try await pair.sender.fetch(Cell.where { $0.id.isIn(keys) }) }
    #expect(listed?.code == .invalidArgument)
    #expect(try await pair.sender.fetch(Cell.where { $0.id.isIn(keys.prefix(300)) }).isEmpty)
  }

  @Test("must be declared, in the order of the id, and cannot be referred to")
  func invalid() async throws {
    func message(_ model: any Model.Type) async -> String? {
      let folder = try? TemporaryFolder()
      let failure = await error { try await ReplicaPair.open(folder?.file("replica") ?? "", [model], TestClock()) }
      return failure?.code == .invalidSchema ? failure?.message : nil
    }
    #expect(await message(Swapped.self) == "table swapped has an id that is not made of its key columns")
    #expect(await message(Undeclared.self) == "table undeclared has a key of 1 columns, and an id of 2")
    #expect(await message(Referrer.self) == "a column refers to table cell, whose key has several columns")
  }

  @Test("in another order at the sender waits")
  func otherOrder() async throws {
    struct Turned: Model {
      static let schema = Schema<Self>("cell") {
        Key(Column("row", \.id.first), Column("sheet", \.id.second.first), Column("column", \.id.second.second))
      }
      var id = PairKey(0, PairKey("", 0))
    }
    let folder = try TemporaryFolder()
    let there = folder.file("there")
    let identity = try await Replica.identity(at: there)
    let invitation = folder.file("invitation")
    try await pair.sender.members.invite(
      identity, name: "turned", verification: .trustOnFirstUse, to: .file(invitation))
    await (try Replica.join(at: there, invitation: .file(invitation), inviter: .trustOnFirstUse)).close()
    let turned = try await ReplicaPair.open(there, [Turned.self], pair.clock)
    try await pair.sender.write { try $0.insert(Cell(id: PairKey("s", PairKey(1, 2)))) }
    let file = folder.file("file")
    _ = try await pair.sender.export(to: .file(file))
    let report = try await turned.import(from: .file(file))
    #expect(report.waiting.transactions > 0 && report.waiting.held == nil, "\(report)")
    #expect(try await turned.fetch(Turned.all).isEmpty)
  }
}
