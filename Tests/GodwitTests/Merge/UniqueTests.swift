import Godwit
import Testing

@Suite("Unique values that meet")
struct UniqueTests {
  @Test("a row that waits is listed when it begins to, and not again with every write to its table")
  func listedOnce() async throws {
    let group = try await MergeGroup(2, models: [Login.self])
    try await group.write(0, "INSERT INTO account (id, email) VALUES ('a', 'x')")
    try await group.write(1, "INSERT INTO account (id, email) VALUES ('b', 'x')")
    try await group.exchange()
    #expect(try await group.conflicts(0).map(\.kind) == [.unique])
    _ = try await group[0].conflicts.prune(keeping: 0)
    try await group.write(0, "INSERT INTO account (id) VALUES ('zz')")
    #expect(try await group.conflicts(0).isEmpty)
    try await group.write(0, "UPDATE account SET email = 'y' WHERE id = 'a'")
    #expect(try await group.conflicts(0).isEmpty)
    try await group.exchange()
    #expect(try await group.rows("SELECT id FROM account ORDER BY id") == [["a"], ["b"], ["zz"]])
  }

  @Test(
    "the row with the least key is shown, the other waits in limbo whole and is listed, and comes when the claim ends")
  func leastKey() async throws {
    let group = try await MergeGroup(3)
    try await group.write(1, "INSERT INTO account (id, email, plan) VALUES ('b', 'x@y', 'new')")
    try await group.write(0, "INSERT INTO account (id, email, plan) VALUES ('a', 'x@y', 'old')")
    try await group.exchange()
    #expect(try await group.rows("SELECT id FROM account") == [["a"]])
    for replica in 0...2 {
      let conflict = try #require(try await group.conflicts(replica).last)
      #expect(conflict.kind == .unique && conflict.column == "email" && conflict.losingValue == "x@y")
      #expect(conflict.key == ["b"])
    }
    try await group.write(2, "UPDATE account SET email = 'other' WHERE id = 'a'")
    #expect(try await group[2].rows("SELECT id FROM account ORDER BY id").map(\.values) == [["a"], ["b"]])
    try await group.exchange()
    #expect(
      try await group.rows("SELECT id, email, plan FROM account ORDER BY id") == [
        ["a", "other", "old"], ["b", "x@y", "new"],
      ])
  }

  @Test("a claim freed by a delete that arrives later lets the waiting row appear on all")
  func freedByDelete() async throws {
    let group = try await MergeGroup(3)
    try await group.write(0, "INSERT INTO account (id, email) VALUES ('a', 'x')")
    try await group.write(1, "INSERT INTO account (id, email) VALUES ('b', 'x')")
    try await group.write(2, "INSERT INTO account (id, email) VALUES ('c', 'x')")
    try await group.exchange()
    #expect(try await group.rows("SELECT id FROM account") == [["a"]])
    try await group.write(0, "DELETE FROM account WHERE id = 'a'")
    try await group.exchange()
    #expect(try await group.rows("SELECT id FROM account") == [["b"]])
    try await group.write(1, "DELETE FROM account WHERE id = 'b'")
    try await group.exchange()
    #expect(try await group.rows("SELECT id FROM account") == [["c"]])
  }

  @Test("values swapped within one transaction are no collision")
  func swap() async throws {
    let group = try await MergeGroup()
    try await group.write(
      0, "INSERT INTO account (id, email) VALUES ('a', 'x')", "INSERT INTO account (id, email) VALUES ('b', 'y')")
    try await group.exchange()
    let swap: [SQL] = [
      "UPDATE account SET email = NULL WHERE id = 'a'", "UPDATE account SET email = 'x' WHERE id = 'b'",
      "UPDATE account SET email = 'y' WHERE id = 'a'",
    ]
    try await group.write(0, swap[0], swap[1], swap[2])
    try await group.write(1, "UPDATE account SET plan = 'p'")
    try await group.exchange()
    #expect(
      try await group.rows("SELECT id, email, plan FROM account ORDER BY id") == [["a", "y", "p"], ["b", "x", "p"]])
    #expect(try await group.conflicts(0).isEmpty)
  }

  @Test("each index is judged alone: a row that loses one claim keeps its others")
  func indexesAreJudgedAlone() async throws {
    let group = try await MergeGroup(3)
    try await group.write(0, "INSERT INTO account (id, email, realm, login) VALUES ('a', 'x', 'r', 'one')")
    try await group.write(1, "INSERT INTO account (id, email, realm, login) VALUES ('b', 'x', 'r', 'two')")
    try await group.write(2, "INSERT INTO account (id, email, realm, login) VALUES ('c', 'z', 'r', 'two')")
    try await group.exchange()
    // b waits for x, and holds (r, two) all the same, so c waits too.
    #expect(try await group.rows("SELECT id FROM account") == [["a"]])
    try await group.write(0, "UPDATE account SET email = 'free' WHERE id = 'a'")
    try await group.exchange()
    #expect(try await group.rows("SELECT id FROM account ORDER BY id") == [["a"], ["b"]])
  }

  @Test("an edit of a waiting row, made where it is still shown, is not lost")
  func editOfWaitingRow() async throws {
    let group = try await MergeGroup()
    try await group.write(0, "INSERT INTO account (id, email) VALUES ('a', 'x')")
    try await group.write(1, "INSERT INTO account (id, email) VALUES ('b', 'x')")
    try await group.send(1, 0)
    try await group.write(1, "UPDATE account SET plan = 'edited' WHERE id = 'b'")
    try await group.exchange()
    try await group.write(0, "DELETE FROM account WHERE id = 'a'")
    try await group.exchange()
    #expect(try await group.rows("SELECT id, plan FROM account") == [["b", "edited"]])
  }

  @Test("a local insert under the key of a waiting row takes its place")
  func insertOverWaitingRow() async throws {
    let group = try await MergeGroup()
    try await group.write(0, "INSERT INTO account (id, email) VALUES ('a', 'x')")
    try await group.write(1, "INSERT INTO account (id, email, plan) VALUES ('b', 'x', 'first')")
    try await group.exchange()
    try await group.write(0, "INSERT INTO account (id, email, plan) VALUES ('b', 'y', 'second')")
    try await group.exchange()
    #expect(
      try await group.rows("SELECT id, email, plan FROM account ORDER BY id") == [
        ["a", "x", ""], ["b", "y", "second"],
      ])
  }
}
