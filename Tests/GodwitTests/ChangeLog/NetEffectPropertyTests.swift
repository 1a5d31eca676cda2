import Foundation
import Godwit
import Testing

/// Random transactions from seeds: the log says exactly what each did, and a replica that knows only the log holds
/// the same.
@Suite("The net effect of random transactions")
struct NetEffectPropertyTests {
  private static let tables = ["item", "shelf"]

  private func check(seed: UInt64, movesUniqueValues: Bool = false, triggers: [String] = []) async throws {
    let pair = try await ReplicaPair(models: [Shelf.self, Item.self])
    for trigger in triggers { try await pair.sender.write { _ = try $0.execute(SQL(text: trigger)) } }
    var writes = RandomWrites(seed: seed, movesUniqueValues: movesUniqueValues)
    for number in 1...20 {
      let before = try await TableContents(pair.sender, Self.tables)
      let logged = try await pair.sender.latest()?.sequence ?? 0
      let start = writes
      writes = try await pair.sender.write { [start] transaction in
        var writes = start
        do {
          try transaction.savepoint { try writes.transaction(transaction) }
        } catch let error as GodwitError where error.code == .constraint {}
        // References that a write left dangling would refuse the whole transaction.
        try transaction.execute("UPDATE item SET parent = NULL WHERE parent NOT IN (SELECT id FROM item)")
        try transaction.execute("UPDATE item SET shelf = NULL WHERE shelf NOT IN (SELECT id FROM shelf)")
        try transaction.execute("UPDATE item SET origin = NULL WHERE origin NOT IN (SELECT id FROM shelf)")
        return writes
      }

      let after = try await TableContents(pair.sender, Self.tables)
      let newest = try await pair.sender.latest()
      let counts = newest.flatMap { $0.sequence > logged ? ChangeCounts($0) : nil } ?? ChangeCounts()
      try #require(
        counts == ChangeCounts(from: before, to: after), "seed \(seed), transaction \(number): the log's counts")
      if number.isMultiple(of: 2) {
        try await pair.carry()
        let digests = try await (pair.sender.maintenance.digest(), pair.receiver.maintenance.digest())
        try #require(digests.0 == digests.1, "seed \(seed), transaction \(number): the receiver differs")
      }
    }
    #expect(try await pair.sender.maintenance.verify().problems == [], "seed \(seed)")
    #expect(try await pair.receiver.maintenance.verify().problems == [], "seed \(seed)")
  }

  @Test("is what the log says, whatever fails or is taken back", arguments: UInt64(1)...12)
  func randomWrites(seed: UInt64) async throws {
    try await check(seed: seed)
  }

  @Test("is what the log says when unique values go from row to row", arguments: UInt64(101)...104)
  func movingUniqueValues(seed: UInt64) async throws {
    try await check(seed: seed, movesUniqueValues: true)
  }

  @Test(
    "is what the log says when the program's own triggers write to other rows and columns", arguments: UInt64(201)...204
  )
  func ownTriggers(seed: UInt64) async throws {
    try await check(
      seed: seed,
      triggers: [
        """
        CREATE TRIGGER moved AFTER UPDATE OF shelf ON item BEGIN
          UPDATE shelf SET name = name || '+' WHERE id IN (OLD.shelf, NEW.shelf); END
        """,
        """
        CREATE TRIGGER refused BEFORE INSERT ON item WHEN NEW.amount = -1 BEGIN
          SELECT RAISE(IGNORE); END
        """,
        """
        CREATE TRIGGER stopped AFTER UPDATE OF amount ON item WHEN NEW.amount > 5 BEGIN
          SELECT RAISE(FAIL, 'too much'); END
        """,
      ])
  }

  @Test("is what the log says when the program's own triggers write to the same row", arguments: UInt64(301)...304)
  func ownTriggersOnTheSameRow(seed: UInt64) async throws {
    try await check(
      seed: seed,
      triggers: [
        """
        CREATE TRIGGER tidied AFTER INSERT ON item WHEN NEW.title <> '' BEGIN
          UPDATE item SET title = upper(title), note = 'tidied' WHERE id = NEW.id; END
        """,
        """
        CREATE TRIGGER stamped AFTER UPDATE OF title ON item WHEN NEW.title = 'b' BEGIN
          UPDATE item SET title = 'B', note = 'stamped' WHERE id = NEW.id; END
        """,
      ])
  }
}
