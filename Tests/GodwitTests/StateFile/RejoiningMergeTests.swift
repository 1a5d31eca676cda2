import Foundation
import Godwit
import Testing

/// Own work comes to a state that remembers who wrote what: the rules merge it as if a file had brought it.
@Suite("Rejoining with what is remembered")
struct RejoiningMergeTests {
  /// A member that was removed and has written since, as others have; it gets a state that has forgotten nothing.
  private func rejoined() async throws -> (ThingGroup, MergeReport) {
    let group = try await ThingGroup(2)
    for id in ["later here", "later there", "deleted here", "deleted there", "raised", "counted", "left alone"] {
      try await group.replicas[0].write { try $0.insert(Thing(id: id, name: "first", count: 1, tags: ["a"])) }
    }
    for _ in 0..<2 { try await group.exchange() }
    try await group.replicas[0].members.remove("replica-1")
    func write(_ replica: Int, _ statements: String...) async throws {
      group.clock.advance(10)
      try await group.replicas[replica].write { tx in
        for statement in statements { try tx.execute(SQL(stringLiteral: statement)) }
      }
    }
    try await write(1, "UPDATE thing SET name = 'here', best = 5 WHERE id = 'later there'")
    try await write(
      0, "UPDATE thing SET name = 'there' WHERE id IN ('later here', 'later there', 'deleted here')",
      "DELETE FROM thing WHERE id IN ('deleted there', 'left alone')", "UPDATE thing SET best = 9 WHERE id = 'raised'",
      #"UPDATE thing SET count = count + 2, tags = '["a","b"]' WHERE id = 'counted'"#)
    try await write(
      1, "UPDATE thing SET name = 'here' WHERE id IN ('later here', 'deleted there')",
      "DELETE FROM thing WHERE id = 'deleted here'", "UPDATE thing SET best = 5 WHERE id = 'raised'",
      #"UPDATE thing SET count = count + 4, tags = '["a","c"]' WHERE id = 'counted'"#)
    group.clock.advance(1_000)
    try await group.replicas[0].members.invite(
      group.replicas[1].identity, name: "replica-1", verification: .trustOnFirstUse,
      to: .file(group.folder.file("again")))
    let file = group.folder.file("state")
    _ = try await group.replicas[0].exportState(to: .file(file), for: "replica-1")
    return (group, try await group.replicas[1].rejoin(from: .file(file)))
  }

  @Test("the later write stays, a maximum stays, counts and sets add up, and an edit outlives a delete")
  func merged() async throws {
    let (group, report) = try await rejoined()
    #expect(report.applied.state?.replayed == 2)
    let things = try await group.replicas[1].fetch(Thing.all).sorted { $0.id < $1.id }
    #expect(
      things.map { "\($0.id): \($0.name), \($0.count), \($0.tags.sorted().joined()), \($0.best)" } == [
        "counted: first, 7, abc, 0", "deleted here: there, 1, a, 0", "deleted there: here, 1, a, 0",
        "later here: here, 1, a, 0", "later there: there, 1, a, 5", "raised: first, 1, a, 9",
      ])
    #expect(try await group.replicas[1].maintenance.verify().problems.isEmpty)
    for _ in 0..<2 { try await group.exchange() }
    #expect(try await group.digests().count == 1)
  }

  @Test("what loses on either side is listed, and nothing else")
  func listed() async throws {
    let (group, report) = try await rejoined()
    let conflicts = try await group.replicas[1].conflicts.list()
    let lines = conflicts.map { "\($0.key): \($0.kind), \($0.losingValue), \($0.winningValue)" }
    #expect(report.attention.conflicts == conflicts.count)
    #expect(
      lines.sorted() == [
        "\([Value.text("deleted here")]): delete, null, null", "\([Value.text("deleted there")]): delete, null, null",
        "\([Value.text("later here")]): edit, text(\"there\"), text(\"here\")",
        "\([Value.text("later there")]): edit, text(\"here\"), text(\"there\")",
      ], "\(lines)")
  }
}
