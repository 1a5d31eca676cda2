import Foundation
import Godwit
import Testing

@Suite("The log of a transaction")
struct NetEffectTests {
  private let pair: ReplicaPair
  private var sender: Replica { pair.sender }

  init() async throws {
    pair = try await ReplicaPair(models: [Shelf.self, Item.self])
    try await pair.sender.write { transaction in
      for number in 1...3 {
        try transaction.insert(Shelf(id: number, name: "shelf \(number)"))
        try transaction.insert(Item(id: "k\(number)", code: number, title: "item \(number)", shelf: number))
      }
    }
  }

  /// Runs the body as one transaction and returns what the log says of it; nil when the log says nothing.
  private func counts(_ body: @escaping @Sendable (Transaction) throws -> Void) async throws -> ChangeCounts? {
    let before = try await sender.latest()?.sequence
    try await sender.write(body)
    let newest = try await sender.latest()
    return newest?.sequence == before ? nil : newest.map(ChangeCounts.init)
  }

  @Test("is not there when a row was inserted and deleted again")
  func insertedAndDeleted() async throws {
    let counts = try await counts { transaction in
      try transaction.insert(Item(id: "new"))
      try transaction.execute("UPDATE item SET title = 'changed' WHERE id = 'new'")
      try transaction.delete(Item.self, key: "new")
    }
    #expect(counts == nil)
    try await pair.expectSame()
  }

  @Test("is not there when values were changed and changed back")
  func updatedAndBack() async throws {
    let counts = try await counts { transaction in
      try transaction.execute("UPDATE item SET title = 'other', amount = amount + 1")
      try transaction.execute("UPDATE item SET title = 'item ' || substr(id, 2), amount = amount - 1")
    }
    #expect(counts == nil)
    try await pair.expectSame()
  }

  @Test("is not there when a row was deleted and inserted as it had been")
  func deletedAndBack() async throws {
    let counts = try await counts { transaction in
      let item = try transaction.fetch(Item.self, key: "k1")
      try transaction.delete(Item.self, key: "k1")
      if let item { try transaction.insert(item) }
    }
    #expect(counts == nil)
    try await pair.expectSame()
  }

  @Test("holds a deleted and inserted row as an update of the columns that differ")
  func deletedAndInserted() async throws {
    let counts = try await counts { transaction in
      try transaction.delete(Item.self, key: "k1")
      try transaction.insert(Item(id: "k1", code: 1, title: "changed", shelf: 1))
    }
    #expect(counts == ChangeCounts(0, 1, 0))
    try await pair.expectSame()
  }

  @Test("holds REPLACE of a row as one update, so that another replica's edit of another column stays")
  func replaceIsAnUpdate() async throws {
    try await pair.carry()
    try await pair.receiver.write { _ = try $0.execute("UPDATE item SET note = 'theirs' WHERE id = 'k1'") }
    pair.clock.advance(10)
    let counts = try await counts { transaction in
      try transaction.execute(
        "INSERT OR REPLACE INTO item (id, code, title, amount, shelf) VALUES ('k1', 1, 'ours', 0.0, 1)")
    }
    #expect(counts == ChangeCounts(0, 1, 0))
    try await pair.carry()
    let merged = try #require(try await pair.receiver.fetch(Item.self, key: "k1"))
    #expect(merged.title == "ours" && merged.note == "theirs")
  }

  @Test("holds REPLACE by a unique value as a delete of the row displaced")
  func replaceByUniqueValue() async throws {
    let counts = try await counts { transaction in
      try transaction.execute("INSERT OR REPLACE INTO item (id, code, title, amount) VALUES ('z', 1, 'new', 0.0)")
    }
    #expect(counts == ChangeCounts(1, 0, 1))
    try await pair.expectSame()
  }

  @Test("holds a unique value that goes to a row with a smaller key")
  func replaceByUniqueValueDownwards() async throws {
    try await pair.carry()
    let counts = try await counts { transaction in
      try transaction.execute("INSERT OR REPLACE INTO item (id, code, title, amount) VALUES ('a', 2, 'new', 0.0)")
    }
    #expect(counts == ChangeCounts(1, 0, 1))
    try await pair.expectSame()
  }

  @Test("holds a swap of unique values as two updates")
  func swap() async throws {
    try await pair.carry()
    let counts = try await counts { transaction in
      try transaction.execute("UPDATE item SET code = NULL WHERE id = 'k1'")
      try transaction.execute("UPDATE item SET code = 1 WHERE id = 'k2'")
      try transaction.execute("UPDATE item SET code = 2 WHERE id = 'k1'")
    }
    #expect(counts == ChangeCounts(0, 2, 0))
    try await pair.expectSame()
  }

  @Test("holds a row whose key changed as a delete and an insert")
  func keyChange() async throws {
    let counts = try await counts { _ = try $0.execute("UPDATE item SET id = 'other' WHERE id = 'k2'") }
    #expect(counts == ChangeCounts(1, 0, 1))
    try await pair.expectSame()
  }

  @Test("holds what a cascade deleted and what a reference set to null")
  func cascade() async throws {
    try await sender.write { _ = try $0.execute("UPDATE item SET origin = 1 WHERE id = 'k3'") }
    let counts = try await counts { _ = try $0.delete(Shelf.self, key: 1) }
    // The shelf and the item on it go; the third item loses its origin.
    #expect(counts == ChangeCounts(0, 1, 2))
    try await pair.expectSame()
  }

  @Test("holds nothing of a statement that failed half way", arguments: ["", "OR ABORT ", "OR FAIL "])
  func failedStatement(clause: String) async throws {
    let counts = try await counts { transaction in
      #expect(throws: GodwitError.self) {
        try transaction.execute(
          SQL(text: "INSERT \(clause)INTO item (id, title, amount) VALUES ('x', '', 0), ('y', '', 0), ('k1', '', 0)"))
      }
      #expect(throws: GodwitError.self) {
        try transaction.execute(SQL(text: "UPDATE \(clause)item SET code = 3"))
      }
    }
    #expect(counts == nil)
    #expect(try await sender.count(Item.all) == 3)
    try await pair.expectSame()
  }

  @Test("holds only the rows that OR IGNORE let through")
  func ignoredRows() async throws {
    let counts = try await counts { transaction in
      _ = try transaction.execute(
        "INSERT OR IGNORE INTO item (id, title, amount) VALUES ('x', '', 0), ('k1', '', 0), ('y', '', 0)")
    }
    #expect(counts == ChangeCounts(2, 0, 0))
    try await pair.expectSame()
  }

  @Test("ends with a statement that rolls the transaction back, and nothing is kept")
  func rolledBackByStatement() async throws {
    let before = try await sender.latest()?.sequence
    let failure = await code {
      try await sender.write { transaction in
        try transaction.insert(Item(id: "new"))
        _ = try? transaction.execute("INSERT OR ROLLBACK INTO item (id, title, amount) VALUES ('k1', '', 0)")
        try transaction.insert(Item(id: "later"))
      }
    }
    #expect(failure == .transactionEnded)
    #expect(try await sender.latest()?.sequence == before)
    #expect(try await sender.count(Item.all) == 3)
    try await pair.expectSame()
  }

  @Test("holds nothing of savepoints that were rolled back, and all of those that were not")
  func savepoints() async throws {
    struct Stop: Error {}
    let counts = try await counts { transaction in
      try transaction.savepoint {
        try transaction.insert(Item(id: "kept"))
        try? transaction.savepoint {
          try transaction.insert(Item(id: "gone"))
          try transaction.savepoint { _ = try transaction.execute("DELETE FROM item") }
          throw Stop()
        }
      }
      try? transaction.savepoint {
        _ = try transaction.execute("UPDATE shelf SET name = 'gone'")
        throw Stop()
      }
    }
    #expect(counts == ChangeCounts(1, 0, 0))
    try await pair.expectSame()
  }

  @Test("is not there when the body throws")
  func thrownBody() async throws {
    struct Stop: Error {}
    let before = try await sender.latest()?.sequence
    await #expect(throws: Stop.self) {
      try await sender.write { transaction in
        try transaction.insert(Item(id: "gone"))
        throw Stop()
      }
    }
    #expect(try await sender.latest()?.sequence == before)
    try await pair.expectSame()
  }

  @Test("is not there when a reference dangles at the commit, and the next takes its number")
  func danglingReference() async throws {
    let before = try #require(try await sender.latest()?.sequence)
    #expect(await code { try await sender.write { try $0.insert(Item(id: "lost", shelf: 99)) } } == .constraint)
    try await sender.write { try $0.insert(Item(id: "found")) }
    #expect(try await sender.latest()?.sequence == before + 1)
    #expect(try await sender.maintenance.verify().problems == [])
    try await pair.expectSame()
  }

  @Test("holds long runs of inserts, and what comes between them, in order")
  func longRuns() async throws {
    let counts = try await counts { transaction in
      for number in 0..<200 { try transaction.insert(Item(id: "run-\(number)", code: 1_000 + number)) }
      #expect(throws: GodwitError.self) { try transaction.insert(Item(id: "run-7")) }
      #expect(throws: GodwitError.self) { try transaction.insert(Item(id: "other", code: 1_000)) }
      #expect(throws: GodwitError.self) { try transaction.insert(Item(id: "other", amount: .nan)) }
      _ = try transaction.execute("DELETE FROM item WHERE code >= 1100")
      for number in 200..<300 { try transaction.insert(Item(id: "run-\(number)", shelf: 2)) }
      try transaction.insert(Shelf(id: 4, name: "last"))
      _ = try transaction.delete(Shelf.self, key: 2)
    }
    // 100 items and a shelf stay; the shelf that goes takes its item and those of the last run with it.
    #expect(counts == ChangeCounts(101, 0, 2))
    try await pair.expectSame()
  }

  @Test("holds the default that REPLACE puts in the place of NULL, and the key the database chose")
  func defaults() async throws {
    let counts = try await counts { transaction in
      _ = try transaction.execute("INSERT OR REPLACE INTO item (id, title, amount) VALUES ('k1', NULL, NULL)")
      _ = try transaction.execute("INSERT INTO shelf (name) VALUES ('numbered by the database')")
    }
    #expect(counts == ChangeCounts(1, 1, 0))
    try await pair.expectSame()
  }

  @Test("keeps each value's storage class, whatever the column was declared as")
  func storageClasses() async throws {
    let values: [Value] = [
      .integer(.min), .integer(.max), .real(.infinity), .real(-.infinity), .real(1), .real(1e300), .text("1"),
      .text("1e2"), .text(""), .text("a\0b"), .blob([]), .blob([0, 255]), .real(0.1),
    ]
    try await sender.write { transaction in
      for (number, value) in values.enumerated() {
        try transaction.execute(
          SQL(
            text: "INSERT INTO item (id, title, amount, note, payload) VALUES (?, ?, ?, ?, ?)",
            values: [.text("value-\(number)"), value, value, value, value]))
      }
    }
    try await pair.expectSame()
    for replica in [pair.sender, pair.receiver] {
      let rows = try await replica.rows("SELECT payload FROM item WHERE id LIKE 'value-%' ORDER BY rowid")
      #expect(rows.map { $0.values[0] } == values)
    }
  }

  @Test("takes no text that is not UTF-8, or carries it over unchanged")
  func brokenText() async throws {
    _ = await code {
      try await sender.write { transaction in
        _ = try transaction.execute("UPDATE item SET title = CAST(x'41FF42' AS TEXT) WHERE id = 'k1'")
        _ = try transaction.execute("UPDATE item SET note = 'x' WHERE id = 'k1'")
      }
    }
    try await sender.write { _ = try $0.execute("UPDATE item SET note = 'later' WHERE id = 'k2'") }
    try await pair.expectSame()
    #expect(try await pair.receiver.fetch(Item.self, key: "k2")?.note == "later")
  }
}
