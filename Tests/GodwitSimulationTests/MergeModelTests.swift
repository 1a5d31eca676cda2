import GodwitBase
import GodwitCore
import Testing

@testable import GodwitSimulation

/// The model must be right by itself: what it says of small histories is worked out here by hand.
@Suite("Merge model")
struct MergeModelTests {
  private let ada = Origin(replica: ReplicaID(Identifier128(high: 0, low: 1)), incarnation: 1)
  private let bob = Origin(replica: ReplicaID(Identifier128(high: 0, low: 2)), incarnation: 1)

  private func name(_ table: String, _ key: Value) throws -> RowName {
    RowName(table: try #require(TableShape.numbers[table]), key: [key])
  }

  /// `saw` is how far the author held the other one.
  private func transaction(
    _ origin: Origin, _ sequence: UInt64, at time: UInt64, saw: UInt64, _ operations: [HistoricOperation]
  ) -> HistoricTransaction {
    let other = origin == ada ? bob : ada
    let context = VersionVector([
      origin: SequenceNumber(rawValue: sequence), other: SequenceNumber(rawValue: saw),
    ])
    return HistoricTransaction(
      dot: Dot(origin, SequenceNumber(rawValue: sequence)), hlc: HLC(rawValue: time), context: context, version: 1,
      operations: operations)
  }

  private func tally(_ id: Value, word: Value = "", views: Value = 0, tags: Value = "[]", high: Value = 0) -> [Value] {
    [id, word, .null, views, tags, high, 0, "", .null]
  }

  @Test("concurrent differences of a counter add up, and the later word stays")
  func counter() throws {
    let row = try name("tally", "t0")
    let model = MergeModel(
      [
        transaction(ada, 1, at: 1, saw: 0, [.init(row: row, kind: .insert(tally("t0", word: "a", views: 5)))]),
        transaction(ada, 2, at: 4, saw: 0, [.init(row: row, kind: .update([3: .sum(1), 1: .value("late")]))]),
        transaction(bob, 1, at: 3, saw: 1, [.init(row: row, kind: .update([3: .sum(-2), 1: .value("early")]))]),
      ], at: 1)
    #expect(model.tables.rows[row.table][row.key] == tally("t0", word: "late", views: 4))
  }

  @Test("an edit that a delete had not seen keeps the row with its whole count")
  func editWins() throws {
    let row = try name("tally", "t0")
    let model = MergeModel(
      [
        transaction(ada, 1, at: 1, saw: 0, [.init(row: row, kind: .insert(tally("t0", views: 5)))]),
        transaction(ada, 2, at: 9, saw: 0, [.init(row: row, kind: .delete)]),
        transaction(bob, 1, at: 3, saw: 1, [.init(row: row, kind: .update([3: .sum(1)]))]),
      ], at: 1)
    #expect(model.tables.rows[row.table][row.key] == tally("t0", views: 6))
  }

  @Test("where deletes win, only an insert that saw the delete brings the row back")
  func deleteWins() throws {
    let row = try name("ticket", "k0")
    let inserted: [Value] = ["k0", "open", 0, "[]", 1, 0]
    let deleted = [
      transaction(ada, 1, at: 1, saw: 0, [.init(row: row, kind: .insert(inserted))]),
      transaction(ada, 2, at: 2, saw: 0, [.init(row: row, kind: .delete)]),
      transaction(bob, 1, at: 3, saw: 1, [.init(row: row, kind: .update([1: .value("done")]))]),
    ]
    #expect(MergeModel(deleted, at: 1).tables.rows[row.table].isEmpty)
    let again = transaction(ada, 3, at: 5, saw: 1, [.init(row: row, kind: .insert(["k0", "new", 2, "[]", 1, 0]))])
    #expect(MergeModel(deleted + [again], at: 1).tables.rows[row.table][row.key] == ["k0", "new", 2, "[]", 1, 0])
  }

  @Test("an element stays that a remove had not seen")
  func addWins() throws {
    let row = try name("tally", "t0")
    let model = MergeModel(
      [
        transaction(ada, 1, at: 1, saw: 0, [.init(row: row, kind: .insert(tally("t0", tags: "[\"a\",\"b\"]")))]),
        transaction(
          ada, 2, at: 2, saw: 0, [.init(row: row, kind: .update([4: .elements(added: [], removed: ["a", "b"])]))]),
        transaction(bob, 1, at: 2, saw: 1, [.init(row: row, kind: .update([4: .elements(added: [], removed: ["a"])]))]),
        transaction(bob, 2, at: 3, saw: 1, [.init(row: row, kind: .update([4: .elements(added: ["a"], removed: [])]))]),
      ], at: 1)
    #expect(model.tables.rows[row.table][row.key] == tally("t0", tags: "[\"a\"]"))
  }

  @Test("a maximum is of values that had not seen each other")
  func maximum() throws {
    let row = try name("tally", "t0")
    let model = MergeModel(
      [
        transaction(ada, 1, at: 1, saw: 0, [.init(row: row, kind: .insert(tally("t0", high: 50)))]),
        transaction(ada, 2, at: 2, saw: 0, [.init(row: row, kind: .update([5: .value(2)]))]),
        transaction(bob, 1, at: 2, saw: 1, [.init(row: row, kind: .update([5: .value(3)]))]),
      ], at: 1)
    #expect(model.tables.rows[row.table][row.key] == tally("t0", high: 3))
  }

  @Test("the lesser key holds a unique value, and the other row waits")
  func unique() throws {
    let (first, second) = (try name("guest", "g0"), try name("guest", "g1"))
    let model = MergeModel(
      [
        transaction(ada, 1, at: 5, saw: 0, [.init(row: first, kind: .insert(["g0", "ann", 1, 1, "", 3]))]),
        transaction(bob, 1, at: 4, saw: 0, [.init(row: second, kind: .insert(["g1", "ann", 1, .null, "", 3]))]),
      ], at: 1)
    #expect(model.tables.rows[first.table].keys.sorted { $0.count < $1.count } == [["g0"]])
    #expect(model.limbo == [second: .unique])
  }

  @Test("a child of a deleted parent waits, and a circle of rows that need each other is shown")
  func references() throws {
    let (shelf, book) = (try name("shelf", "s0"), try name("book", "b0"))
    let (left, right) = (try name("dancer", "d0"), try name("dancer", "d1"))
    let model = MergeModel(
      [
        transaction(
          ada, 1, at: 1, saw: 0,
          [
            .init(row: shelf, kind: .insert(["s0", "x", .null])),
            .init(row: left, kind: .insert(["d0", "d1", 1])), .init(row: right, kind: .insert(["d1", "d0", 1])),
          ]),
        transaction(ada, 2, at: 2, saw: 0, [.init(row: shelf, kind: .delete)]),
        transaction(bob, 1, at: 3, saw: 1, [.init(row: book, kind: .insert(["b0", "s0", .null, .null]))]),
      ], at: 1)
    #expect(model.limbo == [book: .reference])
    #expect(model.tables.rows[left.table].count == 2)
  }

  @Test("of two moves that close a circle in a tree that of the greater key has no effect")
  func circle() throws {
    let (one, two) = (try name("leaf", "n0"), try name("leaf", "n1"))
    let model = MergeModel(
      [
        transaction(
          ada, 1, at: 1, saw: 0,
          [
            .init(row: one, kind: .insert(["n0", .null, "p", .null])),
            .init(row: two, kind: .insert(["n1", .null, "p", .null])),
          ]),
        transaction(ada, 2, at: 3, saw: 0, [.init(row: one, kind: .update([1: .value("n1")]))]),
        transaction(bob, 1, at: 2, saw: 1, [.init(row: two, kind: .update([1: .value("n0")]))]),
      ], at: 1)
    #expect(model.tables.rows[one.table][one.key] == ["n0", "n1", "p", .null])
    #expect(model.tables.rows[two.table][two.key] == ["n1", .null, "p", .null])
    #expect(model.hiddenReferences == [two: [1]])
  }

  @Test("what was written before a migration is what the migration makes of it")
  func carried() throws {
    let (dancer, book, seat) = (try name("dancer", "d0"), try name("book", "b0"), try name("seat", "A"))
    let shelf = try name("shelf", "s0")
    let old = HistoricTransaction(
      dot: Dot(ada, SequenceNumber(rawValue: 1)), hlc: HLC(rawValue: 1),
      context: VersionVector([ada: SequenceNumber(rawValue: 1)]), version: 0,
      operations: [
        .init(row: shelf, kind: .insert(["s0", "x", .null])),
        .init(row: dancer, kind: .insert(["d0", .null, 1])),
        .init(row: book, kind: .insert(["b0", "s0", "emma", .null])),
        .init(row: RowName(table: seat.table, key: ["A", 1]), kind: .insert(["A", 1, "bob", 10])),
      ])
    let late = transaction(ada, 2, at: 2, saw: 0, [.init(row: book, kind: .update([2: .value("momo!")]))])
    let model = MergeModel([old, late], at: 2)
    #expect(model.tables.rows[dancer.table][dancer.key] == ["d0", .null, "1"])
    #expect(model.tables.rows[book.table][book.key] == ["b0", "s0", "momo!", 5])
    #expect(model.tables.rows[seat.table][["A", 1]] == ["A", 1, .null, 10])
    #expect(MergeModel([old], at: 4).tables.rows[seat.table].isEmpty)
  }
}
