import Godwit
import Testing

@Suite("Rows that change their key")
struct MoveTests {
  private func group(_ count: Int = 2) async throws -> MergeGroup {
    let group = try await MergeGroup(count)
    try await group.write(0, #"INSERT INTO page (id, title, views, tags) VALUES ('a', 'first', 5, '["x"]')"#)
    try await group.exchange()
    return group
  }

  private let all: SQL = "SELECT id, title, views, tags, best FROM page ORDER BY id"

  @Test("the edit follows the row to its new key, whichever comes first")
  func editFollows() async throws {
    for (mover, editor) in [(0, 1), (1, 0)] {
      let group = try await group()
      try await group.write(mover, "UPDATE page SET id = 'b'")
      try await group.write(
        editor, #"UPDATE page SET title = 'edited', views = views + 2, tags = '["x","y"]', best = 3"#)
      try await group.exchange()
      #expect(try await group.rows(all) == [["b", "edited", 7, #"["x","y"]"#, 3]])
      let replaced = try await group.conflicts(0) + group.conflicts(1)
      #expect(replaced.isEmpty)
    }
  }

  @Test("an edit made before the move but unseen by it follows too, and the later of two edits wins")
  func earlierEdit() async throws {
    let group = try await group(3)
    try await group.write(1, "UPDATE page SET title = 'early'")
    try await group.write(0, "UPDATE page SET id = 'b'")
    try await group.write(2, "UPDATE page SET title = 'late', views = views + 1")
    try await group.send(0, 1)
    try await group.send(2, 0)
    try await group.exchange()
    #expect(try await group.rows(all) == [["b", "late", 6, #"["x"]"#, 0]])
  }

  @Test("a column that the move changed too is merged by stamp, and the loser is listed")
  func changedAtTheMove() async throws {
    let group = try await group()
    try await group.write(1, "UPDATE page SET title = 'edited'")
    try await group.write(0, "UPDATE page SET id = 'b', title = 'moved'")
    try await group.exchange()
    #expect(try await group.rows(all) == [["b", "moved", 5, #"["x"]"#, 0]])
    for replica in 0...1 {
      #expect(try await group.conflicts(replica).contains { $0.losingValue == "edited" })
    }
  }

  @Test("a delete that had not heard of the row's new key loses to the move, is listed, and can be restored there")
  func deleteLosesToMove() async throws {
    for (mover, other) in [(0, 1), (1, 0)] {
      let group = try await group()
      try await group.write(mover, "UPDATE page SET id = 'b'")
      try await group.write(other, "DELETE FROM page")
      try await group.exchange()
      #expect(try await group.rows(all) == [["b", "first", 5, #"["x"]"#, 0]])
      for replica in 0...1 {
        let lost = try await group.conflicts(replica)
        #expect(lost.map(\.kind) == [.delete] && lost.map(\.key) == [["a"]])
        let id = try #require(lost.first?.id)
        #expect(try await group[replica].restore(conflict: id))
        #expect(try await group[replica].rows(all).isEmpty)
      }
    }
  }

  @Test("what a move brings to a key that another row has taken meanwhile is listed, whichever comes first")
  func carriedToATakenKey() async throws {
    for (mover, other) in [(0, 1), (1, 0)] {
      let group = try await group()
      try await group.write(mover, "UPDATE page SET id = 'b'")
      try await group.write(other, "INSERT INTO page (id, title) VALUES ('b', 'mine')")
      try await group.exchange()
      #expect(try await group.rows("SELECT id, title FROM page") == [["b", "mine"]])
      for replica in 0...1 {
        let lost = try await group.conflicts(replica).filter { $0.losingValue == "first" }
        #expect(lost.map(\.winningValue) == ["mine"])
        let id = try #require(lost.first?.id)
        #expect(try await group[replica].restore(conflict: id))
        #expect(try await group[replica].rows("SELECT title FROM page").map(\.values) == [["first"]])
      }
    }
  }

  @Test("a row that another's edit follows to its key is listed where it loses, in every order")
  func followedToATakenKey() async throws {
    for order in [[1, 2], [2, 1]] {
      let group = try await group(3)
      try await group.write(0, "UPDATE page SET id = 'b'")
      try await group.write(1, "INSERT INTO page (id, title) VALUES ('b', 'mine')")
      try await group.write(2, "UPDATE page SET title = 'late'")
      for sender in order { try await group.send(sender, 0) }
      try await group.exchange()
      #expect(try await group.rows("SELECT id, title FROM page") == [["b", "late"]])
      for replica in 0...2 {
        #expect(try await group.conflicts(replica).contains { $0.losingValue == "mine" && $0.winningValue == "late" })
      }
    }
  }

  @Test("a key that is set to what it is, or back to what it was, does not end a move in the same transaction")
  func throughTheSameKey() async throws {
    for path in [["b", "b"], ["a", "b"], ["b", "a", "c"], ["b", "a", "a", "c", "c"]] {
      let group = try await group()
      var key = "a"
      var statements: [SQL] = []
      for next in path {
        statements.append("UPDATE page SET id = \(next) WHERE id = \(key)")
        key = next
      }
      try await group.write(0, statements)
      try await group.write(1, "UPDATE page SET title = 'edited'")
      try await group.exchange()
      #expect(try await group.rows(all) == [[.text(key), "edited", 5, #"["x"]"#, 0]], "\(path)")
    }
  }

  @Test("a row that took the key of one that went is not that row, though its key is set to the same")
  func anotherRow() async throws {
    let group = try await group()
    try await group.write(
      0, "DELETE FROM page", "INSERT INTO page (id, title) VALUES ('a', 'another')", "UPDATE page SET id = 'a'",
      "UPDATE page SET id = 'b'")
    try await group.write(1, "UPDATE page SET title = 'edited'")
    try await group.exchange()
    let titles = try await group.rows("SELECT id, title FROM page ORDER BY id")
    #expect(titles == [["a", "edited"], ["b", "another"]])
  }

  @Test("edits follow through several moves, and through several transactions")
  func chain() async throws {
    let group = try await group(3)
    try await group.write(0, "UPDATE page SET id = 'b'", "UPDATE page SET id = 'c'")
    try await group.write(0, "UPDATE page SET id = 'd'")
    try await group.write(1, "UPDATE page SET title = 'one'")
    try await group.write(2, "UPDATE page SET views = views + 10")
    try await group.send(1, 2)
    try await group.exchange()
    #expect(try await group.rows(all) == [["d", "one", 15, #"["x"]"#, 0]])
  }

  @Test("a row moved on both goes to both keys, with the edits of each")
  func twoMoves() async throws {
    let group = try await group(3)
    try await group.write(0, "UPDATE page SET id = 'b'")
    try await group.write(1, "UPDATE page SET id = 'c'")
    try await group.write(2, "UPDATE page SET title = 'edited'")
    try await group.exchange()
    #expect(try await group.rows("SELECT id, title FROM page ORDER BY id") == [["b", "edited"], ["c", "edited"]])
  }

  @Test("a delete that had not seen the move takes the old key alone")
  func deleteOfTheOldKey() async throws {
    let group = try await group()
    try await group.write(0, "UPDATE page SET id = 'b'")
    try await group.write(1, "DELETE FROM page")
    try await group.exchange()
    #expect(try await group.rows("SELECT id FROM page") == [["b"]])
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

  @Test("a key taken again after the move is another row")
  func keyTakenAgain() async throws {
    let group = try await group()
    try await group.write(0, "UPDATE page SET id = 'b'", "INSERT INTO page (id, title) VALUES ('a', 'new')")
    try await group.exchange()
    try await group.write(1, "UPDATE page SET views = 50 WHERE id = 'a'")
    try await group.write(0, "UPDATE page SET views = 1 WHERE id = 'b'")
    try await group.exchange()
    #expect(
      try await group.rows("SELECT id, title, views FROM page ORDER BY id") == [["a", "new", 50], ["b", "first", 1]])
  }

  @Test("children that refer to a row move with it")
  func children() async throws {
    let group = try await MergeGroup()
    try await group.write(0, "INSERT INTO shelf (id) VALUES ('s')", "INSERT INTO volume (id, shelf) VALUES ('v', 's')")
    try await group.exchange()
    try await group.write(0, "UPDATE shelf SET id = 't'", "UPDATE volume SET shelf = 't'")
    try await group.write(1, "UPDATE volume SET title = 'edited'", "UPDATE shelf SET name = 'n'")
    try await group.exchange()
    #expect(try await group.rows("SELECT shelf, title FROM volume") == [["t", "edited"]])
    #expect(try await group.rows("SELECT id, name FROM shelf") == [["t", "n"]])
  }

  // MARK: Whatever comes first

  @Test("a row that comes to the key of a deleted one brings its own cells")
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

  @Test("of two edits that follow, the later takes back the earlier as it would have under the old key")
  func editsTakeBack() async throws {
    for sendsBetween in [false, true] {
      let group = try await group(3)
      try await group.write(0, "UPDATE page SET id = 'b'")
      try await group.write(1, #"UPDATE page SET best = 50, tags = '["x","y"]'"#)
      if sendsBetween {
        try await group.send(0, 2)
        try await group.send(1, 2)
      }
      try await group.write(1, #"UPDATE page SET best = 2, tags = '["x"]'"#)
      try await group.exchange()
      #expect(try await group.rows(all) == [["b", "first", 5, #"["x"]"#, 2]])
    }
  }

  @Test("one file with a move, an edit that follows it and a delete that saw both leaves nothing")
  func oneFile() async throws {
    let group = try await group(4)
    try await group.write(0, "UPDATE page SET id = 'b'")
    try await group.write(1, "UPDATE page SET title = 'edited', views = 9")
    try await group.send(0, 2)
    try await group.send(1, 2)
    try await group.write(2, "DELETE FROM page WHERE id = 'b'")
    try await group.send(2, 3)
    #expect(try await group[3].rows(all).isEmpty)
    try await group.exchange()
    #expect(try await group.rows(all).isEmpty)
  }

  @Test("a row inserted under the old key meanwhile stays, and its cells that win follow as well")
  func insertedMeanwhile() async throws {
    for first in [0, 1] {
      let group = try await MergeGroup(3)
      try await group.write(0, "INSERT INTO page (id, title, views) VALUES ('a', 'one', 1)")
      try await group.write(0, "UPDATE page SET id = 'b'")
      try await group.write(1, "INSERT INTO page (id, title, views) VALUES ('a', 'two', 10)")
      try await group.send(first, 2)
      try await group.exchange()
      #expect(
        try await group.rows("SELECT id, title, views FROM page ORDER BY id") == [["a", "two", 11], ["b", "two", 11]])
    }
  }

  @Test("one transaction may write to both keys")
  func bothKeys() async throws {
    let group = try await MergeGroup()
    try await group.write(
      0, "INSERT INTO page (id, views) VALUES ('a', 1)", "INSERT INTO page (id, views) VALUES ('b', 1)")
    try await group.write(1, "INSERT INTO page (id, views) VALUES ('a', 5)")
    try await group.write(1, "UPDATE page SET id = 'b'")
    try await group.exchange()
    #expect(try await group.rows("SELECT id, views FROM page ORDER BY id") == [["a", 6], ["b", 7]])
  }
}

extension MoveTests {
  @Test(
    "a cell beneath the one that a move carried goes on to where a third author moved the row, whichever comes first")
  func beneathTheCarried() async throws {
    for isCarriedFirst in [true, false] {
      let group = try await group(4)
      try await group.write(0, #"INSERT INTO page (id, title, tags) VALUES ('b', 'old', '[]')"#)
      try await group.exchange()
      // 2 has seen neither the edit of b nor that a took its key.
      try await group.write(2, "UPDATE page SET id = 'c' WHERE id = 'b'")
      try await group.write(0, "UPDATE page SET title = 'edited' WHERE id = 'b'")
      try await group.send(0, 1)
      try await group.write(1, "DELETE FROM page WHERE id = 'b'")
      try await group.write(1, "UPDATE page SET id = 'b' WHERE id = 'a'")
      for sender in isCarriedFirst ? [0, 1, 2] : [2, 0, 1] { try await group.send(sender, 3) }
      try await group.exchange()
      let titles = try await group.rows("SELECT id, title FROM page ORDER BY id")
      #expect(titles == [["b", "first"], ["c", "edited"]])
    }
  }
}
