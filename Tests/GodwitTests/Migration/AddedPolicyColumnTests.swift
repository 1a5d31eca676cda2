import Foundation
import Godwit
import Testing

/// Columns with a merge policy that come to tables whose rows others inserted without them.
@Suite("Added columns with a policy")
struct AddedPolicyColumnTests {
  @Migrations.Builder private static func notes() -> [Migration] {
    Migration(1, "notes") {
      $0.create("note") {
        $0.column("id", Int.self)
        $0.column("title", String.self, default: "")
      }
    }
    Migration(2, "second") {
      $0.alter("note") {
        $0.add("votes", Int.self, default: 0, merge: .counter)
        $0.add("tags", Set<String>.self, default: [], merge: .addWinsSet)
        $0.add("best", Int?.self, merge: .max)
      }
    }
  }

  private static let all = "SELECT id, title, votes, tags, best FROM note ORDER BY id"

  @Test("what others brought to a column that an insert does not know stays beside the insert", arguments: [0, 1])
  func insertedBeside(first: Int) async throws {
    let group = try await MigrationGroup([1, 2], Self.notes)
    try await group.write(first, Self.insert(first))
    try await group.write(1 - first, Self.insert(1 - first))
    for _ in 0..<2 { try await group.exchange() }
    let title: Value = first == 0 ? "newer" : "older"
    for replica in 0...1 { #expect(try await group.rows(replica, Self.all) == [[1, title, 7, #"["mine"]"#, 9]]) }
    try await group.expectSame()
  }

  private static func insert(_ replica: Int) -> SQL {
    replica == 0 ? "INSERT INTO note VALUES (1, 'older')" : #"INSERT INTO note VALUES (1, 'newer', 7, '["mine"]', 9)"#
  }

  @Test("a replica that has forgotten the inserts before the column came shows what one shows that remembers them")
  func forgottenInserts() async throws {
    let group = try await MigrationGroup([1, 1, 1], Self.notes)
    try await group.write(0, "INSERT INTO note VALUES (1, 'here')")
    try await group.write(1, "INSERT INTO note VALUES (1, 'there')")
    for _ in 0..<3 { try await group.exchange() }
    try await group[0].maintenance.compact()
    #expect(try await group[0].history.log().isEmpty)

    for older in 0...2 { try await group.update(older, to: 2) }

    for replica in 0...2 { #expect(try await group.rows(replica, Self.all) == [[1, "there", 0, "[]", .null]]) }
    try await group.expectSame()
    try await group.write(0, "UPDATE note SET votes = votes + 1")
    try await group.write(2, "UPDATE note SET votes = votes + 5")
    for _ in 0..<2 { try await group.exchange() }
    for replica in 0...2 { #expect(try await group.rows(replica, Self.all) == [[1, "there", 6, "[]", .null]]) }
    try await group.expectSame()
  }

  @Test("own work from before a migration is made anew in the terms of the new tables")
  func rejoined() async throws {
    let group = try await MigrationGroup([1, 1], Self.notes)
    try await group.write(0, "INSERT INTO note VALUES (1, 'one')", "INSERT INTO note VALUES (2, 'two')")
    try await group.exchange()
    let before = group.path(2)
    await group[1].close()
    try FileManager.default.copyItem(atPath: group.path(1), toPath: before)
    try await group.update(1, to: 1)
    try await group.write(0, "UPDATE note SET title = 'ONE' WHERE id = 1")
    for _ in 0..<2 { try await group.exchange() }
    try await group[0].maintenance.compact()
    await group[1].close()
    // The machine is put back, writes, and migrates before a file of anybody comes.
    try FileManager.default.removeItem(atPath: group.path(1))
    try FileManager.default.moveItem(atPath: before, toPath: group.path(1))
    try await group.update(1, to: 1)
    try await group.write(1, "UPDATE note SET title = 'mine' WHERE id = 2", "INSERT INTO note VALUES (3, 'three')")
    for replica in 0...1 { try await group.update(replica, to: 2) }
    try await group.write(
      0, "UPDATE note SET votes = 9 WHERE id = 2", "INSERT INTO note VALUES (3, 'theirs', 8, '[]', 4)")
    let file = group.folder.file("stateFile")
    _ = try await group[0].exportState(to: .file(file))
    let report = try await group[1].rejoin(from: .file(file))
    #expect(report.applied.state?.replayed == 1)
    // What the author did not have stays what it is there; what it wrote first, the later write takes the place of.
    #expect(
      try await group.rows(1, Self.all) == [
        [1, "ONE", 0, "[]", .null], [2, "mine", 9, "[]", .null], [3, "theirs", 8, "[]", 4],
      ])
    let lost = try await group[1].conflicts.list().map { [$0.losingValue, $0.winningValue] }
    #expect(lost.contains(["three", "theirs"]))
    for _ in 0..<2 { try await group.exchange() }
    try await group.expectSame()
  }

  @Test("own work on a column that is gone since is no obstacle to coming back")
  func rejoinedWithoutColumn() async throws {
    let group = try await MigrationGroup([1, 1]) {
      Migration(1, "seats") {
        $0.create("seat") {
          $0.column("id", Int.self)
          $0.column("holder", String?.self)
          $0.column("price", Int?.self)
        }
      }
      Migration(2, "nobody") { $0.alter("seat") { $0.drop("holder") } }
    }
    try await group.write(0, "INSERT INTO seat VALUES (1, NULL, 10)", "INSERT INTO seat VALUES (2, NULL, 20)")
    try await group.exchange()
    try await group[0].members.remove("replica-1")
    try await group.write(1, "UPDATE seat SET holder = 'ann'")
    try await group.write(1, "UPDATE seat SET holder = 'bob', price = 30 WHERE id = 2")
    for replica in 0...1 { try await group.update(replica, to: 2) }
    try await group.write(0, "INSERT INTO seat VALUES (3, 40)")
    try await group[0].maintenance.compact()
    let report = try await group[1].rejoin(from: .file(group.readmit(1)))
    #expect(report.applied.state?.replayed == 2)
    #expect(try await group.rows(1, "SELECT id, price FROM seat") == [[1, 10], [2, 30], [3, 40]])
    for _ in 0..<2 { try await group.exchange() }
    try await group.expectSame()
  }

  @Test("a value in an added column that own work takes the place of is listed, though its insert had no such column")
  func rejoinedOverAddedColumn() async throws {
    let group = try await MigrationGroup([1, 1]) {
      Migration(1, "guests") {
        $0.create("guest") {
          $0.column("id", Int.self)
          $0.column("name", String.self)
        }
      }
      Migration.addition(2, "moods") { $0.alter("guest") { $0.add("mood", Int.self, default: 3) } }
    }
    try await group.exchange()
    try await group[0].members.remove("replica-1")
    try await group.update(0, to: 2)
    try await group.write(0, "INSERT INTO guest VALUES (1, 'ann', 1)", "UPDATE guest SET mood = 11")
    group.clock.advance(1_000)
    try await group.write(1, "INSERT INTO guest VALUES (1, 'cid')")
    try await group.update(1, to: 2)
    try await group.write(1, "UPDATE guest SET mood = 13")
    let report = try await group[1].rejoin(from: .file(group.readmit(1)))
    #expect(report.applied.state?.replayed == 2)
    #expect(try await group.rows(1, "SELECT * FROM guest") == [[1, "cid", 13]])
    let lost = try await group[1].conflicts.list().map {
      [$0.column.map(Value.text) ?? .null, $0.losingValue, $0.winningValue]
    }
    #expect(Set(lost) == [["name", "ann", "cid"], ["mood", 11, 13]])
  }

  @Test("an insert of before a count and a column were added stands for that column, whichever came first here")
  func insertBeforeBoth() async throws {
    let group = try await MigrationGroup([1, 3, 2]) {
      Migration(1, "guests") {
        $0.create("guest") {
          $0.column("id", Int.self)
          $0.column("name", String.self)
        }
      }
      Migration.addition(2, "visits") { $0.alter("guest") { $0.add("visits", Int.self, default: 0, merge: .counter) } }
      Migration.addition(3, "moods") { $0.alter("guest") { $0.add("mood", Int.self, default: 0) } }
    }
    try await group.write(1, "INSERT INTO guest VALUES (1, 'desk', 0, 5)")
    try await group.write(0, "INSERT INTO guest VALUES (1, 'lap')")
    try await group.send(0, to: 2)
    try await group.send(1, to: 2)
    for _ in 0..<2 { try await group.exchange() }
    try await group.expectSame()
    for replica in 0...2 {
      #expect(try await group.rows(replica, "SELECT name, visits, mood FROM guest") == [["lap", 0, 0]])
    }
  }
}
