import Foundation
import Godwit
import Testing

/// A program may have triggers of its own on a synced table; what they do is part of the transaction.
@Suite("A trigger of the program's own")
struct OwnTriggerTests {
  private let pair: ReplicaPair
  private var sender: Replica { pair.sender }

  init() async throws {
    pair = try await ReplicaPair(models: [Shelf.self, Item.self])
    try await pair.sender.write { transaction in
      try transaction.insert(Shelf(id: 1, name: "shelf"))
      try transaction.insert(Item(id: "k1", title: "one", shelf: 1))
      try transaction.insert(Item(id: "k2", title: "two"))
    }
    try await pair.carry()
  }

  private func addTrigger(_ sql: SQL) async throws {
    try await sender.write { _ = try $0.execute(sql) }
  }

  @Test("is seen on a table of any name")
  func anyName() async throws {
    let pair = try await ReplicaPair(models: [Ärger.self])
    let trigger: SQL = """
      CREATE TRIGGER own AFTER INSERT ON "Ärger" BEGIN
        UPDATE "Ärger" SET title = upper(NEW.title) WHERE id = NEW.id; END
      """
    try await pair.sender.write { _ = try $0.execute(trigger) }
    try await pair.sender.write { transaction in
      for number in 0..<200 { try transaction.insert(Ärger(id: "k\(number)", title: "a")) }
    }
    #expect(try await pair.sender.fetch(Ärger.all).allSatisfy { $0.title == "A" })
    #expect(try await pair.sender.latestCounts() == ChangeCounts(200, 0, 0))
    try await pair.expectSame()
  }

  @Test("may write to another table")
  func otherTable() async throws {
    try await addTrigger(
      "CREATE TRIGGER own AFTER UPDATE OF title ON item BEGIN UPDATE shelf SET name = NEW.title; END")
    try await sender.write { _ = try $0.execute("UPDATE item SET title = 'both' WHERE id = 'k1'") }
    #expect(try await sender.latestCounts() == ChangeCounts(0, 2, 0))
    try await pair.expectSame()
  }

  @Test("may correct a row that was just inserted")
  func correctsInsert() async throws {
    try await addTrigger(
      """
      CREATE TRIGGER own AFTER INSERT ON item BEGIN
        UPDATE item SET title = upper(NEW.title) WHERE id = NEW.id; END
      """)
    try await sender.write { try $0.insert(Item(id: "k3", title: "three")) }
    #expect(try await sender.fetch(Item.self, key: "k3")?.title == "THREE")
    #expect(try await sender.latestCounts() == ChangeCounts(1, 0, 0))
    try await pair.expectSame()
  }

  @Test("may correct a value that was just updated")
  func correctsUpdate() async throws {
    try await addTrigger(
      """
      CREATE TRIGGER own AFTER UPDATE OF title ON item WHEN NEW.title <> upper(NEW.title) BEGIN
        UPDATE item SET title = upper(NEW.title) WHERE id = NEW.id; END
      """)
    try await sender.write { _ = try $0.execute("UPDATE item SET title = 'changed'") }
    #expect(try await sender.fetch(Item.self, key: "k1")?.title == "CHANGED")
    try await pair.expectSame()
  }

  @Test("may put back a row that was just deleted")
  func putsBack() async throws {
    try await addTrigger(
      """
      CREATE TRIGGER own AFTER DELETE ON item BEGIN
        INSERT INTO item (id, title, amount) VALUES (OLD.id, 'still here', 0); END
      """)
    try await sender.write { _ = try $0.execute("DELETE FROM item WHERE id = 'k2'") }
    #expect(try await sender.latestCounts() == ChangeCounts(0, 1, 0))
    try await pair.expectSame()
  }

  @Test("may delete the row that was just inserted")
  func deletesInserted() async throws {
    try await addTrigger(
      "CREATE TRIGGER own AFTER INSERT ON item WHEN NEW.title = 'bad' BEGIN DELETE FROM item WHERE id = NEW.id; END")
    let before = try await sender.latest()?.sequence
    try await sender.write { _ = try $0.execute("INSERT INTO item (id, title, amount) VALUES ('k3', 'bad', 0)") }
    #expect(try await sender.count(Item.all) == 2)
    #expect(try await sender.latest()?.sequence == before)
    try await pair.expectSame()
  }

  @Test("cannot keep a write out of the log by stopping after it", arguments: ["INSERT", "UPDATE", "DELETE"])
  func stopsAfterwards(event: String) async throws {
    try await addTrigger(
      SQL(text: "CREATE TRIGGER own AFTER \(event) ON item BEGIN SELECT RAISE(IGNORE); END"))
    try await sender.write { transaction in
      _ = try transaction.execute("INSERT INTO item (id, title, amount) VALUES ('k3', 'three', 0)")
      _ = try transaction.execute("UPDATE item SET title = 'changed' WHERE id = 'k1'")
      _ = try transaction.execute("DELETE FROM item WHERE id = 'k2'")
    }
    try await pair.expectSame("\(event)")
  }

  @Test("that fails takes the whole statement back", arguments: ["ABORT", "FAIL"])
  func fails(action: String) async throws {
    try await addTrigger(
      SQL(
        text: """
          CREATE TRIGGER own AFTER UPDATE ON item WHEN NEW.id = 'k2' BEGIN
            SELECT RAISE(\(action), 'not this one'); END
          """))
    let before = try await sender.latest()?.sequence
    _ = try await sender.write { transaction in
      #expect(throws: GodwitError.self) { try transaction.execute("UPDATE item SET title = 'changed'") }
    }
    #expect(try await sender.latest()?.sequence == before)
    #expect(try await sender.fetch(Item.self, key: "k1")?.title == "one")
    try await pair.expectSame()
  }

  @Test("that refuses a model's insert leaves nothing of it", arguments: ["ABORT", "FAIL"])
  func refusesModel(action: String) async throws {
    try await addTrigger(
      SQL(
        text: """
          CREATE TRIGGER own AFTER INSERT ON item WHEN NEW.title = 'bad' BEGIN
            UPDATE shelf SET name = 'touched';
            SELECT RAISE(\(action), 'bad title'); END
          """))
    try await sender.write { transaction in
      for number in 0..<100 { try transaction.insert(Item(id: "run-\(number)")) }
      #expect(throws: GodwitError.self) { try transaction.insert(Item(id: "k3", title: "bad")) }
    }
    #expect(try await sender.count(Item.where { $0.id == "k3" }) == 0)
    #expect(try await sender.fetch(Shelf.self, key: 1)?.name == "shelf")
    #expect(try await sender.latestCounts() == ChangeCounts(100, 0, 0))
    try await pair.expectSame()
  }

  @Test("also fires in long runs of inserts, when it is temporary too", arguments: ["", "TEMP "])
  func firesInRuns(kind: String) async throws {
    let isAllowed =
      await code {
        try await addTrigger(
          SQL(text: "CREATE \(kind)TRIGGER own AFTER INSERT ON item BEGIN UPDATE shelf SET name = name || '+'; END"))
      } == nil
    try await sender.write { transaction in
      for number in 0..<100 { try transaction.insert(Item(id: "run-\(number)")) }
    }
    let fired = isAllowed ? 100 : 0
    #expect(try await sender.fetch(Shelf.self, key: 1)?.name.count == "shelf".count + fired)
    try await pair.expectSame()
  }
}

/// A table whose name SQLite and Swift bring to small letters in different ways.
struct Ärger: Model {
  static let schema = Schema<Self>("Ärger") { Column("title", \.title) }
  var id = ""
  var title = ""
}
