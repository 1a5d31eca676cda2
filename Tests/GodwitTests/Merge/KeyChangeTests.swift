import Godwit
import Testing

/// A statement that changes a key deletes one row and inserts another (Specs/merge.md, "Rules").
@Suite("Rows that change their key")
struct KeyChangeTests {
  private func group(_ count: Int = 2) async throws -> MergeGroup {
    let group = try await MergeGroup(count)
    try await group.write(0, #"INSERT INTO page (id, title, views, tags) VALUES ('a', 'first', 5, '["x"]')"#)
    try await group.exchange()
    return group
  }

  private let all: SQL = "SELECT id, title, views, tags, best FROM page ORDER BY id"

  @Test("an edit that had not seen it keeps the old row, and the delete is listed; restored, it takes that row away")
  func edited() async throws {
    for (changer, editor) in [(0, 1), (1, 0)] {
      let group = try await group()
      try await group.write(changer, "UPDATE page SET id = 'b'")
      try await group.write(editor, #"UPDATE page SET title = 'edited', views = views + 2, tags = '["x","y"]'"#)
      try await group.exchange()
      #expect(
        try await group.rows(all) == [["a", "edited", 7, #"["x","y"]"#, 0], ["b", "first", 5, #"["x"]"#, 0]])
      for replica in 0...1 {
        let lost = try await group.conflicts(replica)
        #expect(lost.map(\.kind) == [.delete] && lost.map(\.key) == [["a"]])
      }
      let id = try #require(try await group.conflicts(0).first?.id)
      #expect(try await group[0].conflicts.restore(id))
      try await group.exchange()
      #expect(try await group.rows("SELECT id, title FROM page") == [["b", "first"]])
    }
  }

  @Test("a delete that had not seen it takes the old key alone, and nothing is lost")
  func deleted() async throws {
    for (changer, other) in [(0, 1), (1, 0)] {
      let group = try await group()
      try await group.write(changer, "UPDATE page SET id = 'b'")
      try await group.write(other, "DELETE FROM page")
      try await group.exchange()
      #expect(try await group.rows(all) == [["b", "first", 5, #"["x"]"#, 0]])
      let lost = try await group.conflicts(0) + group.conflicts(1)
      #expect(lost.isEmpty)
    }
  }

  @Test("at a key that another row has taken meanwhile the later insert wins, and the other is listed whole")
  func taken() async throws {
    for (changer, other) in [(0, 1), (1, 0)] {
      let group = try await group()
      try await group.write(changer, "UPDATE page SET id = 'b'")
      try await group.write(other, "INSERT INTO page (id, title) VALUES ('b', 'mine')")
      try await group.exchange()
      #expect(try await group.rows("SELECT id, title FROM page") == [["b", "mine"]])
      for replica in 0...1 {
        let lost = try #require(try await group.conflicts(replica).first { $0.losingValue == "first" })
        #expect(lost.winningValue == "mine")
        #expect(try await group[replica].conflicts.restore(lost.id))
        #expect(try await group[replica].rows("SELECT title FROM page").map(\.values) == [["first"]])
      }
    }
  }

  @Test("a key that is set to what it is, or back to what it was, changes nothing")
  func throughTheSameKey() async throws {
    for path in [["a"], ["b", "a"], ["b", "a", "a"], ["b", "c", "a"]] {
      let group = try await group()
      let before = try await group[0].history.log().count
      var key = "a"
      var statements: [SQL] = []
      for next in path {
        statements.append("UPDATE page SET id = \(next) WHERE id = \(key)")
        key = next
      }
      try await group.write(0, statements)
      #expect(try await group[0].history.log().count == before, "\(path)")
    }
  }

  @Test("through several keys in one transaction it comes to the last, as one delete and one insert")
  func chain() async throws {
    let group = try await group()
    try await group.write(0, "UPDATE page SET id = 'b'", "UPDATE page SET id = 'b'", "UPDATE page SET id = 'c'")
    let changes = try #require(try await group[0].history.log(limit: 1).first?.changes)
    #expect(changes.map(\.inserted) == [1] && changes.map(\.deleted) == [1] && changes.map(\.updated) == [0])
    try await group.exchange()
    #expect(try await group.rows(all) == [["c", "first", 5, #"["x"]"#, 0]])
  }

  @Test("changed on two replicas it is under both keys, beside the row that a third has edited")
  func twoKeys() async throws {
    let group = try await group(3)
    try await group.write(0, "UPDATE page SET id = 'b'")
    try await group.write(1, "UPDATE page SET id = 'c'")
    try await group.write(2, "UPDATE page SET title = 'edited'")
    try await group.exchange()
    #expect(
      try await group.rows("SELECT id, title FROM page ORDER BY id")
        == [["a", "edited"], ["b", "first"], ["c", "first"]])
    for replica in 0...2 { #expect(try await group.conflicts(replica).map(\.kind) == [.delete, .delete]) }
  }

  @Test("keys swapped within one transaction are two rows with other values")
  func swap() async throws {
    let group = try await group()
    try await group.write(0, "INSERT INTO page (id, title) VALUES ('b', 'second')")
    try await group.exchange()
    try await group.write(
      0, "UPDATE page SET id = 't' WHERE id = 'a'", "UPDATE page SET id = 'a' WHERE id = 'b'",
      "UPDATE page SET id = 'b' WHERE id = 't'")
    try await group.exchange()
    #expect(try await group.rows("SELECT id, title FROM page ORDER BY id") == [["a", "second"], ["b", "first"]])
  }

  @Test("a row of the old key that is inserted in the same transaction is that row with other values")
  func keyTakenAgain() async throws {
    let group = try await group()
    try await group.write(0, "UPDATE page SET id = 'b'", "INSERT INTO page (id, title) VALUES ('a', 'new')")
    let changes = try #require(try await group[0].history.log(limit: 1).first?.changes)
    #expect(changes.map(\.inserted) == [1] && changes.map(\.deleted) == [0] && changes.map(\.updated) == [1])
    try await group.exchange()
    #expect(
      try await group.rows("SELECT id, title, views FROM page ORDER BY id") == [["a", "new", 0], ["b", "first", 5]])
  }

  @Test("at the key of a deleted row it brings its own cells, also where that is merged")
  func keyOfADeletedRow() async throws {
    let group = try await group()
    try await group.write(0, "INSERT INTO page (id, title) VALUES ('b', 'gone')")
    try await group.write(0, "DELETE FROM page WHERE id = 'b'")
    try await group.write(0, "UPDATE page SET id = 'b'")
    // Something that had not seen it, so that the other replica merges.
    try await group.write(1, "INSERT INTO page (id, title) VALUES ('z', 'other')")
    try await group.exchange()
    #expect(try await group.rows("SELECT id, title FROM page ORDER BY id") == [["b", "first"], ["z", "other"]])
  }

  @Test("a child that refers to the new key waits with it, and stays with the old one for who had not seen the change")
  func children() async throws {
    let group = try await MergeGroup()
    try await group.write(0, "INSERT INTO shelf (id) VALUES ('s')", "INSERT INTO volume (id, shelf) VALUES ('v', 's')")
    try await group.exchange()
    try await group.write(0, "UPDATE shelf SET id = 't'", "UPDATE volume SET shelf = 't'")
    try await group.write(1, "UPDATE volume SET title = 'edited'", "UPDATE shelf SET name = 'n'")
    try await group.exchange()
    #expect(try await group.rows("SELECT shelf, title FROM volume") == [["t", "edited"]])
    #expect(try await group.rows("SELECT id, name FROM shelf ORDER BY id") == [["s", "n"], ["t", ""]])
  }
}
