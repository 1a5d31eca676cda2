import Foundation
import Godwit
import Testing

@testable import Godwit

private struct Holding: Model {
  static let schema = Schema<Self>("item") {
    Column("owner", \.owner)
    Column("isMain", \.isMain)
    Column("note", \.note)
  }
  var id = ""
  var owner = ""
  var isMain = 0
  var note = ""
}

private struct Stat: Model {
  static let schema = Schema<Self>("stat") { Column("count", \.count, merge: .counter) }
  var id = ""
  var count = 0
}

private struct Flat: Model {
  static let schema = Schema<Self>("flat") { Column("name", \.name) }
  var id = ""
  var name = ""
}

private struct Lease: Model {
  static let schema = Schema<Self>("lease") {
    Column("flat", \.flat).references(Flat.self, onDelete: .setNull)
  }
  var id = ""
  var flat: String?
}

/// Unique indexes that the program makes itself, which no model declares.
@Suite("Unique indexes of the program's own")
struct OwnIndexTests {
  @Test("a transaction that has passed through one is applied once, whatever order its rows come in")
  func once() async throws {
    let group = try await MergeGroup(2, models: [Holding.self, Stat.self])
    for number in 0...1 {
      try await group.write(number, "CREATE UNIQUE INDEX one_main ON item(owner) WHERE isMain = 1")
    }
    try await group.write(
      0, "INSERT INTO item VALUES ('a', 'o', 1, ''), ('b', 'o', 0, '')", "INSERT INTO stat VALUES ('s', 0)")
    try await group.exchange()
    try await group.write(
      0, "UPDATE stat SET count = count + 1", "UPDATE item SET note = 'x' WHERE id = 'b'",
      "UPDATE item SET isMain = 0 WHERE id = 'a'", "UPDATE item SET isMain = 1 WHERE id = 'b'")
    try await group.send(0, 1)
    #expect(try await group.rows("SELECT count FROM stat") == [[1]])
  }

  @Test("a value that passes to a row with a lesser key hides neither, beside whatever else was written")
  func passedOn() async throws {
    let group = try await MergeGroup(2, models: [Holding.self])
    for number in 0...1 {
      try await group.write(number, "CREATE UNIQUE INDEX one_main ON item(owner) WHERE isMain = 1")
    }
    try await group.write(0, "INSERT INTO item VALUES ('a', 'o', 0, ''), ('b', 'o', 1, '')")
    try await group.exchange()
    try await group.write(
      0, "UPDATE item SET isMain = 0 WHERE id = 'b'", "UPDATE item SET isMain = 1 WHERE id = 'a'")
    try await group.write(1, "INSERT INTO item VALUES ('c', 'p', 0, '')")
    try await group.exchange()
    #expect(try await group.rows("SELECT id, isMain FROM item ORDER BY id") == [["a", 1], ["b", 0], ["c", 0]])
    for number in 0...1 { #expect(try await group[number].history.limbo().isEmpty) }
  }

  @Test("values that pass from row to row in one long transaction hide none")
  func longTransaction() async throws {
    let group = try await MergeGroup(2, models: [Flat.self])
    let count = 21_000
    for number in 0...1 { try await group.write(number, "CREATE UNIQUE INDEX own ON flat(name)") }
    try await group.write(
      0,
      """
      INSERT INTO flat WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
      SELECT printf('%05d', i), printf('%05d', i) FROM n
      """)
    try await group.send(0, 1)
    try await group.write(
      0, "UPDATE flat SET name = '-' || name",
      "UPDATE flat SET name = printf('%05d', CAST(substr(name, 2) AS INTEGER) + 1)")
    try await group.write(1, "INSERT INTO flat VALUES ('other', 'other')")
    try await group.send(0, 1)
    #expect(try await group[1].status().limbo == 0)
    #expect(
      try await group[1].rows("SELECT count(*), max(name) FROM flat WHERE id < 'a'").map(\.values)
        == [[.integer(Int64(count)), .text("21001")]])
  }

  @Test("a hidden reference that one refuses, when it is shown again, keeps its row in limbo and no file out")
  func shownAgain() async throws {
    let group = try await MergeGroup(2, models: [Flat.self, Lease.self])
    try await group.write(1, "CREATE UNIQUE INDEX own ON lease(flat)")
    try await group.write(0, "INSERT INTO flat VALUES ('f', '')")
    try await group.exchange()
    try await group.write(0, "DELETE FROM flat")
    try await group.write(1, "INSERT INTO lease VALUES ('1', 'f')")
    try await group.exchange()
    try await group.write(0, "INSERT INTO flat VALUES ('f', '')")
    try await group.write(0, "INSERT INTO lease VALUES ('2', 'f')")
    try await group.send(0, 1)
    #expect(try await group[1].rows("SELECT id FROM lease").map(\.values) == [["2"]])
    #expect(try await group[1].history.limbo().map(\.key) == [["1"]])
  }
}
