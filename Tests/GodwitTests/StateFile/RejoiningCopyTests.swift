import Foundation
import Godwit
import Testing

/// Found by the simulator (seed 3000007727): a machine and its copy write to the same rows, meet, and rejoin. What they
/// wrote is made anew in the order of its causes, which is not that of its timestamps where a row is far ahead.
@Suite("Rejoining with a copy's work")
struct RejoiningCopyTests {
  /// The third member and a copy of it, which is the fourth, have met; the third shows what the rules made of it.
  private func meeting() async throws -> ThingGroup {
    var group = try await ThingGroup(3)
    for id in ["ahead", "edited"] {
      try await group.replicas[0].write { try $0.insert(Thing(id: id, name: "first")) }
    }
    // A clock that is hours ahead: who writes to this row again is ahead, too.
    group.clock.advance(50_000_000)
    try await group.replicas[0].write { _ = try $0.execute("UPDATE thing SET best = 1 WHERE id = 'ahead'") }
    for _ in 0..<2 { try await group.exchange() }
    group.clock.advance(-50_000_000)
    let place = group.folder.file("copy")
    try FileManager.default.copyItem(atPath: group.folder.file("replica-2"), toPath: place)
    group.replicas.append(try await ThingGroup.open(place, group.clock))
    let (original, copy) = (group.replicas[2], group.replicas[3])

    try await original.write { _ = try $0.execute("UPDATE thing SET name = 'ahead' WHERE id = 'ahead'") }
    try await original.write { try $0.insert(Thing(id: "both", name: "by the original", code: "x", count: 1)) }
    try await original.write { _ = try $0.execute("DELETE FROM thing WHERE id = 'edited'") }
    group.clock.advance(7)
    try await copy.write { try $0.insert(Thing(id: "both", name: "by the copy", count: 2)) }
    try await copy.write { _ = try $0.execute("UPDATE thing SET name = 'by the copy' WHERE id = 'edited'") }
    #expect(try await group.send(3, 2).applied.transactions == 2)
    return group
  }

  private func things(_ replica: Replica) async throws -> [String] {
    try await replica.fetch(Thing.all).sorted { $0.id < $1.id }.map { "\($0.id): \($0.name), \($0.code ?? "none")" }
  }

  @Test("what won between the two wins again, and what lost stays listed")
  func winsAgain() async throws {
    let group = try await meeting()
    let (first, original) = (group.replicas[0], group.replicas[2])
    let before = ["ahead: ahead, none", "both: by the copy, none", "edited: by the copy, none"]
    #expect(try await things(original) == before)

    try await first.members.remove("replica-2")
    try await first.write { try $0.insert(Thing(id: "later")) }
    for _ in 0..<3 {
      try await group.send(0, 1)
      try await group.send(1, 0)
    }
    for index in 0..<2 { try await group.replicas[index].maintenance.compact() }
    group.clock.advance(1_000)
    try await first.members.invite(
      original.identity, name: "replica-2", verification: .trustOnFirstUse, to: .file(group.folder.file("again")))
    let file = group.folder.file("state")
    _ = try await first.exportState(to: .file(file), for: "replica-2")
    let report = try await original.rejoin(from: .file(file))
    #expect(report.applied.state?.replayed == 5)
    #expect(try await things(original) == before + ["later: , none"])
    let listed = try await original.conflicts.list()
    for value in ["by the original", "x"] {
      #expect(listed.contains { $0.losingValues.contains(.text(value)) }, "\(value)")
    }
    #expect(listed.contains { $0.kind == .delete && $0.key == [.text("edited")] })
    #expect(try await original.maintenance.verify().problems.isEmpty)
  }
}
