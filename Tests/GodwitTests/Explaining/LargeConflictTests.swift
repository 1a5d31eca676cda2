import Foundation
import Godwit
import Testing

/// One large value that meets hundreds of small ones stands in the conflict log once.
@Suite("Conflicts of large values")
struct LargeConflictTests {
  private static let count = 300
  private let group: MergeGroup
  private let large: String

  /// 1 holds the large value, and takes in edits that had not seen it, each of which loses.
  init() async throws {
    group = try await MergeGroup(2)
    try await group.write(0, "INSERT INTO page (id, title) VALUES ('p', 'first')")
    try await group.exchange()
    for number in 1...Self.count { try await group.write(0, "UPDATE page SET title = \("small \(number)")") }
    var generator = SeededGenerator(seed: 1)
    large = String(
      (0..<200_000).map { _ in Character(UnicodeScalar(UInt8.random(in: 0x21...0x7E, using: &generator))) })
    try await group.write(1, "UPDATE page SET title = \(large)")
  }

  private func stored(_ sql: SQL) async throws -> Value? { try await group[1].rows(sql).first?.values.first }

  @Test("are listed whole and kept once")
  func keptOnce() async throws {
    let before = try await group[1].status().databaseBytes
    #expect(try await group.send(0, 1).attention.conflicts == Self.count)
    #expect(try await group[1].status().databaseBytes - before < 4 * large.utf8.count)
    #expect(try await stored("SELECT count(*) FROM godwit_conflict_value") == 1)
    let conflicts = try await group[1].conflicts.list(limit: 1_000)
    #expect(conflicts.count == Self.count && conflicts.allSatisfy { $0.winningValue == .text(large) })
    #expect(Set(conflicts.map(\.losingValue)) == Set((1...Self.count).map { .text("small \($0)") }))
    // Where it comes to the small ones it takes the place of the last.
    try await group.send(1, 0)
    #expect(try await group[0].conflicts.list(limit: 10).map(\.winningValue) == [.text(large)])
    try await group.exchange()
  }

  @Test("go with the last entry that names them, and can be restored until then")
  func pruned() async throws {
    try await group.send(0, 1)
    try await group.send(1, 0)
    try await group.write(1, "UPDATE page SET title = 'later'")
    try await group.write(0, "UPDATE page SET title = 'latest'")
    try await group.exchange()
    #expect(try await group[1].conflicts.prune(keeping: 1) > 0)
    #expect(try await stored("SELECT count(*) FROM godwit_conflict_value") == 0)
    let small = try #require(try await group[0].conflicts.list(limit: 10).last)
    #expect(small.winningValue == .text(large))
    try await group[0].conflicts.restore(small.id)
    #expect(try await group[0].rows("SELECT title FROM page").map(\.values) == [[small.losingValue]])
  }

  @Test("are found by entries of columns that a migration converts")
  func converted() async throws {
    let group = try await MigrationGroup([1, 1]) {
      Migration(1, "page") {
        $0.create("page") {
          $0.column("id", Int.self)
          $0.column("title", String?.self)
        }
      }
      Migration(2, "lower") { $0.alter("page") { $0.change("title", String?.self, by: "lower(title)") } }
    }
    try await group.write(0, "INSERT INTO page (id, title) VALUES (1, 'first')")
    try await group.exchange()
    for number in 1...10 { try await group.write(0, "UPDATE page SET title = \("SMALL \(number)")") }
    try await group.write(1, "UPDATE page SET title = \(large)")
    try await group.send(0, to: 1)
    try await group.update(1, to: 2)
    let conflicts = try await group[1].conflicts.list(limit: 100)
    #expect(conflicts.count == 10 && conflicts.allSatisfy { $0.winningValue == .text(large.lowercased()) })
    #expect(conflicts.map(\.losingValue).contains(.text("small 7")))
    #expect(try await group.rows(1, "SELECT count(*) FROM godwit_conflict_value") == [[1]])
  }
}
