import Godwit
import Testing

/// Found by the simulator (seed 10364): what a reference was before it closed a circle could be a unique value that
/// another row has, together with what else own work wrote. The replica could not rejoin.
@Suite("Circles at a rejoin")
struct RejoiningCircleTests {
  private let shown: SQL = "SELECT id, parent, name FROM directory ORDER BY id"

  private func group() async throws -> MergeGroup {
    let group = try await MergeGroup(models: [Directory.self])
    try await group.write(
      0, "INSERT INTO directory (id, parent, name) VALUES ('a', NULL, 'a'), ('b', 'a', 'old'), ('c', NULL, 'c')")
    try await group.exchange()
    // What closes the circle is in the state that the other one comes back to.
    try await group.write(0, "UPDATE directory SET parent = 'b' WHERE id = 'c'")
    return group
  }

  private func rejoin(_ group: MergeGroup) async throws -> [Conflict] {
    let file = group.folder.file("state")
    _ = try await group[0].exportState(to: .file(file))
    let report = try await group[1].rejoin(from: .file(file))
    #expect(report.applied.state?.replayed == 1)
    let conflicts = try await group[1].conflicts.list(kind: .constraint)
    try await group.exchange()
    return conflicts
  }

  @Test("a reference that closes a circle is what it is in the state, and what else was written stays")
  func closing() async throws {
    let group = try await group()
    try await group.write(1, "UPDATE directory SET parent = 'c', name = 'new' WHERE id = 'b'")
    let conflicts = try await rejoin(group)
    #expect(try await group.rows(shown) == [["a", .null, "a"], ["b", "a", "new"], ["c", "b", "c"]])
    #expect(conflicts.map(\.losingValues) == [["c"]])
  }

  @Test("where that is a unique value of a row in the state, what else was written is refused with it")
  func taken() async throws {
    let group = try await group()
    try await group.write(0, "INSERT INTO directory (id, parent, name) VALUES ('d', 'a', 'new')")
    try await group.write(1, "UPDATE directory SET parent = 'c', name = 'new' WHERE id = 'b'")
    let conflicts = try await rejoin(group)
    #expect(
      try await group.rows(shown) == [["a", .null, "a"], ["b", "a", "old"], ["c", "b", "c"], ["d", "a", "new"]])
    #expect(Set(conflicts.map(\.losingValues)) == [["c"], ["new"]])
  }

  @Test("what is refused stays whole, however long, when all is made anew")
  func long() async throws {
    let group = try await group()
    let name = String(repeating: "long ", count: 40)
    try await group.write(0, "INSERT INTO directory (id, parent, name) VALUES ('d', 'a', 'new')")
    try await group.write(
      1, "UPDATE directory SET name = \(name) WHERE id = 'a'",
      "UPDATE directory SET parent = 'c', name = 'new' WHERE id = 'b'")
    try await group.write(0, "UPDATE directory SET name = 'other' WHERE id = 'a'")
    let conflicts = try await rejoin(group)
    #expect(conflicts.flatMap(\.losingValues).contains("new"))
    for conflict in try await group[1].conflicts.list() { #expect(!conflict.losingValues.isEmpty) }
  }

  @Test("where own work gave the value to another row, that row is refused, for the value is not free")
  func passedOn() async throws {
    let group = try await group()
    try await group.write(
      1, "UPDATE directory SET parent = 'c' WHERE id = 'b'",
      "INSERT INTO directory (id, parent, name) VALUES ('d', 'a', 'old')")
    let conflicts = try await rejoin(group)
    #expect(try await group.rows(shown) == [["a", .null, "a"], ["b", "a", "old"], ["c", "b", "c"]])
    #expect(Set(conflicts.map(\.losingValues)) == [["c"], ["a", "old"]])
  }
}
