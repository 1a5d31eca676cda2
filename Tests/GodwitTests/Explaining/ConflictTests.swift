import Foundation
import Godwit
import GodwitBase
import Testing

@Suite("Conflicts looked at and restored")
struct ConflictTests {
  /// Two replicas that set one title apart; the second one's is the later.
  private func edited() async throws -> MergeGroup {
    let group = try await MergeGroup()
    try await group.write(0, "INSERT INTO page (id, title, views) VALUES ('a', 'first', 1)")
    try await group.exchange()
    try await group.write(0, "UPDATE page SET title = 'lost'")
    try await group.write(1, "UPDATE page SET title = 'won'")
    try await group.exchange()
    return group
  }

  @Test("have both values, and of both writes who, when and in which transaction")
  func authors() async throws {
    let group = try await edited()
    for replica in 0...1 {
      let conflict = try #require(try await group.conflicts(replica).last)
      #expect(conflict.losingValue == "lost" && conflict.winningValue == "won")
      let loser = try #require(conflict.loser)
      let winner = try #require(conflict.winner)
      #expect(loser.replica == group[0].identity.replica && winner.replica == group[1].identity.replica)
      #expect(loser.milliseconds.map { $0 < winner.milliseconds ?? 0 } == true)
      let written = try await group[replica].history.transaction(
        loser.sequence, of: loser.replica, incarnation: loser.incarnation)
      #expect(written.operations.first?.cells.map(\.value) == ["lost"])
    }
  }

  @Test("a lost edit is restored by a new write, which travels, and the entry is resolved")
  func restoreEdit() async throws {
    let group = try await edited()
    let conflict = try #require(try await group.conflicts(1).last)
    #expect(try await group[1].conflicts.restore(conflict.id))
    #expect(try await group[1].conflicts.show(conflict.id)?.isResolved == true)
    #expect(try await group[1].status().conflicts == 0)
    #expect(try await group[1].history.log(limit: 1).first?.changes.first?.updated == 1)
    try await group.exchange()
    #expect(try await group.rows("SELECT title, views FROM page") == [["lost", 1]])
    #expect(try await group.conflicts(0).count == 1)
    #expect(try await group[1].conflicts.restore(conflict.id) == false)
  }

  @Test("a lost edit of a row deleted since brings the row back from what is remembered of it")
  func restoreDeleted() async throws {
    let group = try await edited()
    try await group.write(0, "DELETE FROM page")
    let conflict = try #require(try await group.conflicts(0).last)
    #expect(try await group[0].conflicts.restore(conflict.id))
    try await group.exchange()
    #expect(try await group.rows("SELECT id, title, views FROM page") == [["a", "lost", 1]])
  }

  @Test("where deletes win, a lost edit brings back the row with it")
  func restoreWhereDeletesWin() async throws {
    let group = try await MergeGroup()
    try await group.write(0, "INSERT INTO session (id, user, hits) VALUES ('a', 'ada', 3)")
    try await group.exchange()
    try await group.write(0, "DELETE FROM session")
    try await group.write(1, "UPDATE session SET user = 'bob'")
    try await group.exchange()
    let conflict = try #require(try await group.conflicts(1).last)
    #expect(try await group[1].conflicts.restore(conflict.id))
    try await group.exchange()
    #expect(try await group.rows("SELECT user, hits FROM session") == [["bob", 3]])
  }

  @Test("where deletes win, a lost row that has nothing beside its key is listed and comes back")
  func restoreKey() async throws {
    let group = try await MergeGroup(models: [Mark.self])
    try await group.write(0, "INSERT INTO mark (id) VALUES ('a')")
    try await group.exchange()
    try await group.write(0, "DELETE FROM mark")
    try await group.write(1, "DELETE FROM mark")
    try await group.write(1, "INSERT INTO mark (id) VALUES ('a')")
    try await group.exchange()
    for replica in 0...1 {
      #expect(try await group[replica].rows("SELECT id FROM mark").isEmpty)
      let conflict = try #require(try await group.conflicts(replica).first)
      #expect(conflict.kind == .edit && conflict.columns.isEmpty && conflict.losingValues.isEmpty)
      #expect(conflict.loser?.replica == group[1].identity.replica && conflict.loser?.milliseconds != nil)
      #expect(conflict.winner?.replica == group[0].identity.replica)
    }
    let conflict = try #require(try await group.conflicts(0).first)
    #expect(try await group[0].conflicts.restore(conflict.id))
    try await group.exchange()
    #expect(try await group.rows("SELECT id FROM mark") == [["a"]])
    #expect(try await group[0].conflicts.restore(conflict.id) == false)
  }

  @Test("a lost delete is restored by deleting the row")
  func restoreDelete() async throws {
    let group = try await MergeGroup()
    try await group.write(0, "INSERT INTO page (id, title) VALUES ('a', 'x')")
    try await group.exchange()
    try await group.write(0, "DELETE FROM page")
    try await group.write(1, "UPDATE page SET title = 'kept'")
    try await group.exchange()
    let conflict = try #require(try await group.conflicts(0).last)
    #expect(conflict.kind == .delete && conflict.columns.isEmpty)
    #expect(try await group[0].conflicts.restore(conflict.id))
    try await group.exchange()
    #expect(try await group.rows("SELECT id FROM page").isEmpty)
    #expect(try await group[0].conflicts.restore(conflict.id) == false)
  }

  @Test("what waits for a unique value is not restored, and says what to do; once released there is nothing left")
  func restoreUnique() async throws {
    let group = try await MergeGroup()
    try await group.write(0, "INSERT INTO account (id, realm, login) VALUES ('a', 'r', 'x')")
    try await group.write(1, "INSERT INTO account (id, realm, login) VALUES ('b', 'r', 'x')")
    try await group.exchange()
    let conflict = try #require(try await group.conflicts(1).last)
    #expect(conflict.kind == .unique && conflict.columns == ["realm", "login"] && conflict.losingValues == ["r", "x"])
    #expect(conflict.column == nil)
    let refusal = try #require(await error { try await group[1].conflicts.restore(conflict.id) })
    #expect(refusal.code == .inLimbo && refusal.message.contains("realm, login") && refusal.hint != nil)
    #expect(try await group[1].conflicts.show(conflict.id)?.isResolved == false)
    try await group.write(1, "UPDATE account SET login = 'y' WHERE id = 'a'")
    #expect(try await group[1].conflicts.restore(conflict.id) == false)
    #expect(try await group[1].conflicts.show(conflict.id)?.isResolved == true)
  }

  @Test("what waits for its parent is not restored, and the parent's return leaves nothing to do")
  func restoreReference() async throws {
    let group = try await MergeGroup()
    try await group.write(0, "INSERT INTO shelf (id) VALUES ('s')")
    try await group.exchange()
    try await group.write(0, "DELETE FROM shelf")
    try await group.write(1, "INSERT INTO volume (id, shelf) VALUES ('v', 's')")
    try await group.exchange()
    let conflict = try #require(try await group.conflicts(0).last { $0.kind == .reference })
    #expect(await code { try await group[0].conflicts.restore(conflict.id) } == .inLimbo)
    try await group.write(0, "INSERT INTO shelf (id) VALUES ('s')")
    #expect(try await group[0].conflicts.restore(conflict.id) == false)
  }

  @Test("are found by table, key, kind and time; an unknown table and number are errors")
  func filters() async throws {
    let group = try await edited()
    let between = 1_700_000_000_000 + 35  // writes are 10 ms apart, and three have been
    try await group.write(0, "INSERT INTO account (id, email) VALUES ('a', 'x')")
    try await group.write(1, "INSERT INTO account (id, email) VALUES ('b', 'x')")
    try await group.exchange()
    let replica = group[0]
    #expect(try await replica.conflicts.list().map(\.kind) == [.unique, .edit])
    #expect(try await replica.conflicts.list(table: "PAGE").map(\.kind) == [.edit])
    #expect(try await replica.conflicts.list(table: "page", key: ["other"]).isEmpty)
    #expect(try await replica.conflicts.list(key: ["b"]).map(\.kind) == [.unique])
    #expect(try await replica.conflicts.list(kind: .edit).map(\.table) == ["page"])
    #expect(try await replica.conflicts.list(since: Date(milliseconds: Int64(between))).map(\.kind) == [.unique])
    #expect(try await replica.conflicts.list(limit: 1).map(\.kind) == [.unique])
    #expect(await code { try await replica.conflicts.list(table: "nothing") } == .notInSchema)
    let none = try #require(Conflict.ID("99"))
    #expect(await code { try await replica.conflicts.restore(none) } == .notFound)
    #expect(try await replica.conflicts.show(none) == nil)
    #expect(Conflict.ID("") == nil && Conflict.ID("1.5") == nil && "\(none)" == "99")
  }

  @Test("that are pruned stay counted, and their numbers are not given again")
  func pruning() async throws {
    let group = try await edited()
    let first = try #require(try await group.conflicts(0).last)
    #expect(try await group[0].conflicts.prune(keeping: 1) == 0)
    // No column holds a timestamp of the year 9999.
    let late = Date(timeIntervalSince1970: 253_402_300_799)
    #expect(try await group[0].conflicts.list(since: late).isEmpty)
    #expect(try await group[0].history.log(since: late).isEmpty)
    #expect(
      await code { try await group[0].conflicts.prune(before: Date(timeIntervalSince1970: .nan)) } == .invalidArgument)
    #expect(try await group[0].conflicts.prune(before: Date(timeIntervalSince1970: 1_700_000_000)) == 0)
    #expect(try await group[0].conflicts.prune(before: Date(timeIntervalSince1970: 1_900_000_000)) == 1)
    #expect(try await group[0].status().prunedConflicts == 1)
    try await group.write(0, "UPDATE page SET title = 'left'")
    try await group.write(1, "UPDATE page SET title = 'right'")
    try await group.exchange()
    let second = try #require(try await group.conflicts(0).last)
    #expect(second.id > first.id)
    #expect(try await group[0].conflicts.prune(keeping: 0) == 1)
    #expect(try await group[0].status().prunedConflicts == 2)
    #expect(await code { try await group[0].conflicts.prune(keeping: -1) } == .invalidArgument)
  }

  @Test("are bounded, but an import keeps all it found; later ones remove what is resolved, then the oldest")
  func bounded() async throws {
    let group = try await MergeGroup()
    try await group.write(
      0,
      """
      WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 10003)
      INSERT INTO shelf (id, name) SELECT 'row ' || n, '' FROM number
      """)
    try await group.send(0, 1)
    try await group.write(0, "UPDATE shelf SET name = 'left'")
    try await group.write(1, "UPDATE shelf SET name = 'right'")
    let report = try await group.send(0, 1)
    #expect(report.attention.conflicts == 10_003 && report.attention.prunedConflicts == 0)
    let status = try await group[1].status()
    #expect(status.conflicts == 10_003 && status.prunedConflicts == 0)

    let newest = try #require(try await group[1].conflicts.list(limit: 1).first)
    #expect(try await group[1].conflicts.restore(newest.id))
    try await group.write(0, "UPDATE shelf SET name = 'again' WHERE id = 'row 1'")
    let second = try await group.send(0, 1)
    #expect(second.attention.conflicts == 1 && second.attention.prunedConflicts == 4)
    #expect(try await group[1].status().prunedConflicts == 4)
    #expect(try await group[1].conflicts.show(newest.id) == nil)
  }

  @Test("of a table whose sync was stopped are found by its name, with their keys and the log")
  func stoppedTable() async throws {
    let group = try await edited()
    try await group[0].tables.stopSync(of: "page")
    #expect(try await group[0].conflicts.list(table: "page", key: ["a"]).map(\.losingValue) == ["lost"])
    #expect(try await group[0].tables.table(named: "page").key.map(\.name) == ["id"])
    #expect(try await group[0].history.log(table: "page", since: Date(timeIntervalSince1970: 1_900_000_000)).isEmpty)
    let refusal = await error { try await group[0].history.explain(table: "page", key: ["a"]) }
    #expect(refusal?.code == .notInSchema && refusal?.hint?.contains("conflicts --table page") == true)
    let conflict = try #require(try await group.conflicts(0).last)
    #expect(await code { try await group[0].conflicts.restore(conflict.id) } == .notInSchema)
  }
}
