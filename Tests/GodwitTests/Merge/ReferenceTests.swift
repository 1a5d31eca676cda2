import Godwit
import Testing

@Suite("References that meet a delete")
struct ReferenceTests {
  private func group() async throws -> MergeGroup {
    let group = try await MergeGroup(3)
    try await group.write(0, "INSERT INTO shelf (id) VALUES ('s')", "INSERT INTO shelf (id) VALUES ('t')")
    try await group.exchange()
    return group
  }

  @Test("cascade: a child inserted meanwhile goes with its parent, waits, and comes back with it")
  func cascade() async throws {
    let group = try await group()
    try await group.write(0, "DELETE FROM shelf WHERE id = 's'")
    try await group.write(
      1, "INSERT INTO volume (id, shelf) VALUES ('v', 's')", "INSERT INTO leaf (id, volume) VALUES ('l', 'v')")
    try await group.exchange()
    #expect(try await group.rows("SELECT id FROM volume UNION ALL SELECT id FROM leaf").isEmpty)
    let conflicts = try await group.conflicts(2)
    #expect(conflicts.contains { $0.kind == .reference && $0.table == "volume" && $0.column == "shelf" })
    try await group.write(2, "INSERT INTO shelf (id, name) VALUES ('s', 'again')")
    try await group.exchange()
    #expect(try await group.rows("SELECT id FROM volume UNION ALL SELECT id FROM leaf ORDER BY 1") == [["l"], ["v"]])
  }

  @Test("restrict: the child waits until its parent is back")
  func restrict() async throws {
    let group = try await group()
    try await group.write(0, "DELETE FROM shelf WHERE id = 's'")
    try await group.write(1, "INSERT INTO volume (id, owner, title) VALUES ('v', 's', 'kept')")
    try await group.exchange()
    #expect(try await group.rows("SELECT id FROM volume").isEmpty)
    try await group.write(1, "INSERT INTO shelf (id) VALUES ('s')")
    #expect(try await group[1].rows("SELECT title FROM volume").map(\.values) == [["kept"]])
    try await group.exchange()
    #expect(try await group.rows("SELECT title FROM volume") == [["kept"]])
  }

  @Test("set null: the reference shows nothing, and shows its parent again when that comes back")
  func setNull() async throws {
    let group = try await group()
    try await group.write(0, "DELETE FROM shelf WHERE id = 's'")
    try await group.write(1, "INSERT INTO volume (id, lent) VALUES ('v', 's')")
    try await group.exchange()
    #expect(try await group.rows("SELECT id, lent FROM volume") == [["v", .null]])
    try await group.write(2, "UPDATE volume SET title = 'edited'")
    try await group.exchange()
    try await group.write(0, "INSERT INTO shelf (id) VALUES ('s')")
    try await group.exchange()
    #expect(try await group.rows("SELECT id, lent, title FROM volume") == [["v", "s", "edited"]])
  }

  @Test("a hidden reference that is set to another row is that row")
  func hidReference() async throws {
    let group = try await group()
    try await group.write(0, "DELETE FROM shelf WHERE id = 's'")
    try await group.write(1, "INSERT INTO volume (id, lent) VALUES ('v', 's')")
    try await group.exchange()
    try await group.write(2, "UPDATE volume SET lent = 't'")
    try await group.exchange()
    #expect(try await group.rows("SELECT lent FROM volume") == [["t"]])
    try await group.write(0, "INSERT INTO shelf (id) VALUES ('s')")
    try await group.exchange()
    #expect(try await group.rows("SELECT lent FROM volume") == [["t"]])
  }

  @Test("the effects of a cascade are the author's, and nobody logs them again")
  func cascadeIsLoggedOnce() async throws {
    let group = try await group()
    try await group.write(
      0, "INSERT INTO volume (id, shelf) VALUES ('v', 's')", "INSERT INTO leaf (id, volume) VALUES ('l', 'v')")
    try await group.exchange()
    try await group.write(1, "DELETE FROM shelf WHERE id = 's'")
    try await group.exchange()
    #expect(try await group.rows("SELECT id FROM volume UNION ALL SELECT id FROM leaf").isEmpty)
    for replica in 0...2 {
      let held = try await group[replica].status().applied.map(\.sequence)
      #expect(held.reduce(0, +) == 3)
    }
  }

  @Test("a parent hidden by a unique value hides its children, and shows them again")
  func hiddenParent() async throws {
    let group = try await MergeGroup(2, models: [Owner.self, Pet.self])
    try await group.write(0, "INSERT INTO owner (id, name) VALUES ('a', 'n')")
    try await group.write(
      1, "INSERT INTO owner (id, name) VALUES ('b', 'n')", "INSERT INTO pet (id, owner) VALUES ('p', 'b')")
    try await group.exchange()
    #expect(try await group.rows("SELECT id FROM pet").isEmpty)
    try await group.write(0, "UPDATE owner SET name = 'm' WHERE id = 'a'")
    try await group.exchange()
    #expect(try await group.rows("SELECT owner FROM pet") == [["b"]])
  }

  @Test("rows that refer to each other in a circle, children ahead of parents, are applied in one transaction")
  func circlesOfRows() async throws {
    let group = try await MergeGroup(2, models: [Left.self, Right.self])
    try await group.write(
      0, "INSERT INTO left_row (id, other) VALUES ('a', 'b')", "INSERT INTO right_row (id, other) VALUES ('b', 'a')")
    try await group.write(1, "INSERT INTO left_row (id) VALUES ('c')")
    try await group.exchange()
    #expect(try await group.rows("SELECT id FROM left_row ORDER BY id") == [["a"], ["c"]])
    try await group.write(0, "UPDATE right_row SET other = 'c'")
    try await group.write(1, "DELETE FROM left_row WHERE id = 'c'")
    try await group.exchange()
    // b refers to c, which is gone, and a to b: both wait.
    #expect(try await group.rows("SELECT id FROM left_row UNION ALL SELECT id FROM right_row").isEmpty)
    try await group.write(1, "INSERT INTO left_row (id) VALUES ('c')")
    try await group.exchange()
    #expect(
      try await group.rows("SELECT id FROM left_row UNION ALL SELECT id FROM right_row ORDER BY 1") == [
        ["a"], ["b"], ["c"],
      ])
  }

  @Test("a tree: of two moves that close a circle the later shows nothing, and shows again when the circle is gone")
  func tree() async throws {
    let group = try await MergeGroup()
    try await group.write(
      0, "INSERT INTO branch (id) VALUES ('a')", "INSERT INTO branch (id) VALUES ('b')")
    try await group.exchange()
    try await group.write(0, "UPDATE branch SET parent = 'b' WHERE id = 'a'")
    try await group.write(1, "UPDATE branch SET parent = 'a' WHERE id = 'b'")
    try await group.exchange()
    #expect(try await group.rows("SELECT id, parent FROM branch ORDER BY id") == [["a", "b"], ["b", .null]])
    for replica in 0...1 {
      let conflict = try #require(try await group.conflicts(replica).last)
      #expect(conflict.key == ["b"] && conflict.column == "parent" && conflict.losingValue == "a")
    }
    try await group.write(0, "UPDATE branch SET parent = NULL WHERE id = 'a'")
    try await group.exchange()
    #expect(try await group.rows("SELECT id, parent FROM branch ORDER BY id") == [["a", .null], ["b", "a"]])
  }
}

private struct Owner: Model {
  static let schema = Schema<Self>("owner") { Column("name", \.name).unique() }
  var id = ""
  var name = ""
}

private struct Pet: Model {
  static let schema = Schema<Self>("pet") { Column("owner", \.owner).references(Owner.self, onDelete: .cascade) }
  var id = ""
  var owner = ""
}

private struct Left: Model {
  static let schema = Schema<Self>("left_row") { Column("other", \.other).references(Right.self, onDelete: .restrict) }
  var id = ""
  var other: String?
}

private struct Right: Model {
  static let schema = Schema<Self>("right_row") { Column("other", \.other).references(Left.self, onDelete: .restrict) }
  var id = ""
  var other: String?
}
