import Foundation
import Godwit
import Testing

/// Own work comes to a state that has forgotten who wrote what, wholly or in part.
@Suite("Rejoining with what is forgotten")
struct RejoiningForgottenTests {
  /// Of four replicas the third is removed, and all others know.
  private func group() async throws -> MigrationGroup {
    let group = try await MigrationGroup([1, 1, 1, 1]) {
      Migration(1, "tables") {
        $0.create("link") { $0.column("id", Int.self) }
        $0.create("score") {
          $0.column("id", Int.self)
          $0.column("best", Int.self, default: 0, merge: .max)
          $0.column("count", Int.self, default: 0, merge: .counter)
        }
        $0.create("tag") {
          $0.column("id", Int.self)
          $0.column("code", String?.self)
          $0.index("code", unique: true)
        }
        $0.create("note") {
          $0.column("id", Int.self)
          $0.column("link", Int?.self, references: "link", onDelete: .setNull)
        }
      }
    }
    try await group.write(
      0, "INSERT INTO link VALUES (1), (2)", "INSERT INTO score VALUES (1, 0, 0)", "INSERT INTO note VALUES (1, 1)")
    try await group.write(0, "INSERT INTO tag VALUES (1, 'x'), (3, 'w')")
    try await group.write(1, "INSERT INTO tag VALUES (4, 'w')")
    try await group.exchange()
    try await group[0].members.remove("replica-2")
    try await exchange(group)
    return group
  }

  /// The first one's work goes to the others, and what they hold then is known to it.
  private func exchange(_ group: MigrationGroup) async throws {
    for other in [1, 3] { try await group.send(0, to: other) }
    for other in [1, 3] { try await group.send(other, to: 0) }
  }

  private func rejoin(_ group: MigrationGroup) async throws -> [Conflict] {
    let before = Set(try await group[2].conflicts.list().map(\.id))
    let report = try await group[2].rejoin(from: .file(group.readmit(2)))
    #expect(report.applied.state != nil)
    let conflicts = try await group[2].conflicts.list().filter { !before.contains($0.id) }
    #expect(report.attention.conflicts == conflicts.count)
    try await group.exchange()
    try await group.expectSame()
    return conflicts
  }

  @Test("a row that has nothing beside its key is listed whole when own work deletes it")
  func bare() async throws {
    let group = try await group()
    try await group.write(2, "DELETE FROM link WHERE id = 2")
    try await group.write(0, "DELETE FROM link WHERE id = 2")
    try await group.write(0, "INSERT INTO link VALUES (2)")
    try await exchange(group)
    try await group[0].maintenance.compact()
    let conflicts = try await rejoin(group)
    #expect(try await group.rows(0, "SELECT id FROM link") == [[1]])
    #expect(conflicts.map(\.kind) == [.edit] && conflicts.allSatisfy { $0.columns.isEmpty && $0.key == [2] })
    #expect(try await group[2].conflicts.restore(try #require(conflicts.first).id))
    #expect(try await group.rows(2, "SELECT id FROM link") == [[1], [2]])
  }

  @Test("the greatest that is forgotten beside one that is remembered is listed when own work takes its place")
  func chosen() async throws {
    let group = try await group()
    try await group.write(2, "UPDATE score SET best = 7")
    try await group.write(0, "UPDATE score SET best = 5")
    try await group.write(1, "UPDATE score SET best = 9")
    // The fourth holds the 9 alone, so that all are known to hold it, and of the 5 nobody knows that.
    try await group.send(1, to: 3)
    try await group.send(1, to: 0)
    try await group.send(3, to: 0)
    try await group[0].maintenance.compact()
    #expect(try await group.rows(0, "SELECT best FROM score") == [[9]])
    let conflicts = try await rejoin(group)
    #expect(try await group.rows(0, "SELECT best FROM score") == [[7]])
    #expect(conflicts.contains { $0.column == "best" && $0.losingValue == 9 && $0.winningValue == 7 })
  }

  @Test("a NULL that own work writes last over a hidden reference is what shows, and is listed")
  func hidden() async throws {
    let group = try await group()
    try await group.write(1, "DELETE FROM link WHERE id = 1")
    try await group.send(1, to: 0)
    #expect(try await group.rows(0, "SELECT link FROM note") == [[.null]])
    try await group.write(2, "UPDATE note SET link = 2")
    try await group.write(2, "UPDATE note SET link = NULL")
    let conflicts = try await rejoin(group)
    #expect(try await group.rows(2, "SELECT link FROM note") == [[.null]])
    #expect(conflicts.contains { $0.column == "link" && $0.losingValue == .null }, "\(conflicts)")
  }

  @Test("what an insert of own work takes from a count that is forgotten is listed")
  func counted() async throws {
    let group = try await group()
    try await group.write(2, "DELETE FROM score")
    try await group.write(2, "INSERT INTO score VALUES (1, 1, 2)")
    try await group.write(0, "UPDATE score SET count = count + 30")
    try await exchange(group)
    try await group[0].maintenance.compact()
    let conflicts = try await rejoin(group)
    #expect(try await group.rows(2, "SELECT count FROM score") == [[2]])
    #expect(conflicts.contains { $0.column == "count" && $0.losingValue == 30 })
  }

  @Test("a unique value that passes from row to row in one transaction passes there, too")
  func passedOn() async throws {
    let group = try await group()
    try await group.write(0, "INSERT INTO score VALUES (2, 0, 0)")
    try await group.write(
      2, "INSERT INTO tag VALUES (2, 'none')", "DELETE FROM tag WHERE id = 1", "UPDATE tag SET code = 'x' WHERE id = 2")
    let conflicts = try await rejoin(group)
    #expect(try await group.rows(2, "SELECT id, code FROM tag") == [[2, "x"], [3, "w"]])
    #expect(!conflicts.contains { $0.kind == .constraint }, "\(conflicts)")
  }

  @Test("a delete that reaches no row that waits is listed, also of what own work had put in its place")
  func waiting() async throws {
    let group = try await group()
    try await group.write(0, "INSERT INTO score VALUES (2, 0, 0)")
    try await group.write(2, "INSERT INTO tag VALUES (4, 'free')")
    try await group.write(2, "DELETE FROM tag WHERE id = 4")
    let conflicts = try await rejoin(group)
    #expect(conflicts.contains { $0.kind == .delete && $0.key == [4] }, "\(conflicts)")
  }
}
