import GodwitCore
import Testing

@testable import Godwit
@testable import GodwitEngine

@Suite("Why a row is what it is")
struct ExplainTests {
  @Test("a local write is explained before any merge has seen it, and without writing anything")
  func unfolded() async throws {
    let group = try await MergeGroup(1)
    try await group.write(0, "INSERT INTO page (id, title) VALUES ('a', 'first')")
    try await group.write(0, "UPDATE page SET title = 'second'")
    let row = try await group[0].history.explain(table: "page", key: ["a"])
    #expect(row.presence == .shown && !row.isOlder && row.deletions.isEmpty)
    #expect(row.touches.map(\.kind) == [.insert, .update] && row.touches.map(\.author.sequence) == [1, 2])
    let title = try #require(row.cells.first { $0.column == "title" })
    #expect(title.value == "second" && title.author?.sequence == 2 && title.rule == .lastWriterWins)
    #expect(title.author?.milliseconds == 1_700_000_000_020)
    #expect(row.cells.map(\.column) == ["title", "views", "tags", "best", "first", "note"])
    #expect(
      try await group[0].history.explain(table: "page", key: ["a"], column: "TITLE").cells.map(\.column) == ["title"])
  }

  @Test("a key of another storage class is what its columns make of it, whether the row is there or gone")
  func convertedKey() async throws {
    let types: [(table: String, key: ColumnType)] = [
      ("note", .integer), ("word", .text), ("mark", .real), ("any", .any),
    ]
    let steps = try types.map { table, key in
      let columns = [("id", key), ("title", .text)].map {
        ColumnDefinition(name: $0, type: $1, isNullable: false, defaultValue: "")
      }
      return SchemaStep.createTable(try TableDefinition(name: table, keyCount: 1, columns: columns))
    }
    let group = try await MigrationGroup([1]) { Migration(SchemaMigration(version: 1, name: "all", steps: steps)) }
    for table in types.map(\.table) {
      try await group.write(0, SQL(text: "INSERT INTO \(table) (id) VALUES (1), (2)"))
      try await group.write(0, SQL(text: "UPDATE \(table) SET title = 'new'"))
      try await group.write(0, SQL(text: "DELETE FROM \(table) WHERE id = 2"))
    }
    let asked: [(table: String, key: Value, stored: Value)] = [
      ("note", "1", 1), ("note", 1.0, 1), ("note", " 1 ", 1), ("note", "1e0", 1), ("word", 1, "1"), ("mark", 1, 1.0),
      ("mark", "1", 1.0), ("note", "2", 2), ("note", 2.0, 2), ("word", 2, "2"), ("mark", "2", 2.0), ("mark", 2, 2.0),
      ("any", 1.0, 1), ("any", 2, 2),
    ]
    for (table, key, stored) in asked {
      let row = try await group[0].history.explain(table: table, key: [key])
      #expect(row.key == [stored] && row.touches.count == 2, "\(table) \(key)")
      #expect(row.presence == (["1", 1, 1.0].contains(stored) ? .shown : .deleted), "\(table) \(key)")
    }
    for key: Value in ["x", "1x", "0x1", .null, 1.5] {
      #expect(await code { try await group[0].history.explain(table: "note", key: [key]) } == .notFound, "\(key)")
    }
  }

  @Test("who asks for a collection by its name gets the name of its table")
  func collection() async throws {
    let group = try await MergeGroup(1)
    try await group[0].documents("Acc").merge("k1", ["city": "London"])
    let failures = [
      await error { try await group[0].tables.table(named: "Acc") },
      await error { try await group[0].conflicts.list(table: "Acc") },
      await error { try await group[0].history.log(table: "Acc") },
    ]
    for failure in failures {
      #expect(failure?.code == .notInSchema)
      #expect(failure?.hint == "the collection Acc is in table documents_$acc")
    }
    #expect(await error { try await group[0].tables.table(named: "none") }?.hint == "see: godwit status")
  }

  @Test("the cell states who won over whom")
  func conflict() async throws {
    let group = try await MergeGroup()
    try await group.write(0, "INSERT INTO page (id, title) VALUES ('a', 'first')")
    try await group.exchange()
    try await group.write(0, "UPDATE page SET title = 'lost'")
    try await group.write(1, "UPDATE page SET title = 'won'")
    try await group.exchange()
    for replica in group.replicas {
      let cell = try #require(try await replica.history.explain(table: "page", key: ["a"], column: "title").cells.first)
      #expect(cell.value == "won" && cell.author?.replica == group[1].identity.replica)
      #expect(cell.conflicts.map(\.losingValue) == ["lost"])
      #expect(cell.conflicts.first?.loser?.replica == group[0].identity.replica)
    }
  }

  @Test("a count, a set and a choice state what each replica brought")
  func parts() async throws {
    let group = try await MergeGroup()
    try await group.write(0, "INSERT INTO page (id, views, tags, best) VALUES ('a', 5, '[]', 1)")
    try await group.exchange()
    try await group.write(0, "UPDATE page SET views = views + 1, tags = '[\"x\"]', best = 7")
    try await group.write(1, "UPDATE page SET views = views + 10, tags = '[\"y\"]', best = 9")
    try await group.exchange()
    let row = try await group[0].history.explain(table: "page", key: ["a"])
    func parts(_ column: String) -> [Value] { row.cells.first { $0.column == column }?.parts.map(\.value) ?? [] }
    #expect(Set(parts("views")) == [5, 1, 10])
    #expect(Set(parts("tags")) == ["\"x\"", "\"y\""])
    #expect(Set(parts("best")) == [7, 9])
    let views = try #require(row.cells.first { $0.column == "views" })
    #expect(views.value == 16 && views.rule == .counter && views.author == nil)
    #expect(views.parts.first { $0.value == 10 }?.author.replica == group[1].identity.replica)
    #expect(views.parts.allSatisfy { $0.author.milliseconds != nil })
  }

  @Test("a row that an edit kept states the delete and the edit it had not seen; a deleted one is remembered")
  func deletes() async throws {
    let group = try await MergeGroup()
    try await group.write(0, "INSERT INTO page (id, title) VALUES ('a', 'x')")
    try await group.exchange()
    try await group.write(0, "DELETE FROM page")
    try await group.write(1, "UPDATE page SET title = 'kept'")
    let gone = try await group[0].history.explain(table: "page", key: ["a"])
    #expect(gone.presence == .deleted && gone.deletions.map(\.replica) == [group[0].identity.replica])
    #expect(gone.cells.first?.value == "x" && gone.touches.allSatisfy(\.isDeleted))
    try await group.exchange()
    let kept = try await group[0].history.explain(table: "page", key: ["a"])
    #expect(kept.presence == .shown && kept.deletions.count == 1 && kept.deletes == .editWins)
    #expect(kept.touches.filter { !$0.isDeleted }.map(\.author.replica) == [group[1].identity.replica])
    #expect(kept.conflicts.map(\.kind) == [.delete])
  }

  @Test("limbo, hidden references and changes of keys are explained")
  func places() async throws {
    let group = try await MergeGroup()
    try await group.write(0, "INSERT INTO shelf (id) VALUES ('s')", "INSERT INTO shelf (id, name) VALUES ('t', 'n')")
    try await group.exchange()
    try await group.write(0, "DELETE FROM shelf WHERE id = 's'")
    try await group.write(
      1, "INSERT INTO volume (id, lent) VALUES ('v', 's')", "INSERT INTO volume (id, owner) VALUES ('w', 's')")
    try await group.exchange()
    let hidden = try await group[0].history.explain(table: "volume", key: ["v"], column: "lent")
    #expect(hidden.cells.first?.isHidden == true && hidden.cells.first?.value == "s" && hidden.reasons.count == 1)
    let waiting = try await group[0].history.explain(table: "volume", key: ["w"])
    #expect(waiting.presence == .limbo && waiting.reasons.count == 1)
    try await group.write(1, "UPDATE shelf SET id = 'u' WHERE id = 't'")
    let left = try await group[1].history.explain(table: "shelf", key: ["t"])
    #expect(left.presence == .deleted && left.deletions.map(\.replica) == [group[1].identity.replica])
    let arrived = try await group[1].history.explain(table: "shelf", key: ["u"])
    #expect(arrived.presence == .shown && arrived.touches.map(\.kind) == [.insert])
    #expect(arrived.cells.first?.value == "n" && arrived.cells.first?.author?.replica == group[1].identity.replica)
  }

  @Test("what is not folded yet is explained as it is after the fold")
  func sameAfterFold() async throws {
    let group = try await MergeGroup()
    try await group.write(
      0, "INSERT INTO page (id, title, views) VALUES ('a', 'x', 1)", "INSERT INTO page (id) VALUES ('b')")
    try await group.exchange()
    try await group.write(1, "UPDATE page SET views = views + 2, tags = '[\"t\"]' WHERE id = 'a'")
    try await group.send(1, 0)  // sees all that is there, so it is applied as it stands
    try await group.write(0, "UPDATE page SET title = 'y', best = 4 WHERE id = 'a'")
    try await group.write(0, "DELETE FROM page WHERE id = 'b'")
    let before = [
      try await group[0].history.explain(table: "page", key: ["a"]),
      try await group[0].history.explain(table: "page", key: ["b"]),
    ]
    try await group.write(1, "INSERT INTO shelf (id) VALUES ('elsewhere')")
    try await group.send(1, 0)  // has to be merged
    let after = [
      try await group[0].history.explain(table: "page", key: ["a"]),
      try await group[0].history.explain(table: "page", key: ["b"]),
    ]
    for (before, after) in zip(before, after) {
      #expect(before.presence == after.presence && before.touches == after.touches)
      #expect(before.deletions == after.deletions && before.isOlder == after.isOlder)
      #expect(before.cells.map(\.author) == after.cells.map(\.author))
      #expect(before.cells.map(\.value) == after.cells.map(\.value))
      #expect(before.cells.map(\.parts) == after.cells.map(\.parts))
    }
    #expect(before[0].cells.contains { !$0.parts.isEmpty } && before[1].presence == .deleted)
  }

  @Test("what does not exist is distinguished: table, column, key of another shape, row")
  func unknown() async throws {
    let group = try await MergeGroup(1)
    #expect(await code { try await group[0].history.explain(table: "nothing", key: ["a"]) } == .notInSchema)
    #expect(
      await code { try await group[0].history.explain(table: "page", key: ["a"], column: "colour") } == .notInSchema)
    #expect(await code { try await group[0].history.explain(table: "page", key: ["a", "b"]) } == .invalidArgument)
    #expect(await code { try await group[0].history.explain(table: "page", key: ["a"]) } == .notFound)
  }

  @Test("of a row that is forgotten its conflicts are still listed")
  func forgotten() async throws {
    let group = try await ThingGroup(2)
    try await group.replicas[0].write { try $0.insert(Thing(id: "a", name: "first")) }
    try await group.exchange()
    for index in 0...1 {
      group.clock.advance(10)
      try await group.replicas[index].write { _ = try $0.execute("UPDATE thing SET name = \("by \(index)")") }
    }
    try await group.exchange()
    try await group.replicas[0].write { _ = try $0.execute("DELETE FROM thing") }
    for _ in 0..<3 { try await group.exchange() }
    for replica in group.replicas { try await replica.maintenance.compact() }
    #expect(try await group.count("godwit_row", 0) == 0)
    let row = try await group.replicas[0].history.explain(table: "thing", key: ["a"])
    #expect(row.presence == .unknown && row.cells.isEmpty)
    #expect(row.conflicts.map(\.losingValue) == ["by 0"])
    try await group.replicas[0].conflicts.prune(keeping: 0)
    let refusal = await error { try await group.replicas[0].history.explain(table: "thing", key: ["a"]) }
    #expect(refusal?.code == .notFound && refusal?.hint?.contains("is forgotten") == true)
  }
}
