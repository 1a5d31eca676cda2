import Foundation
import Godwit
import Testing

/// A machine and its copy write to the same rows, meet, and rejoin: the rules make of it what they made of it then.
@Suite("Rejoining with a copy's work")
struct RejoiningCopyTests {
  /// The third member and a copy of it, which is the fourth, have met; the third shows what the rules made of it.
  ///
  /// - Parameter isAhead: Whether the original's first transaction is to a row that is far ahead. What it writes is
  ///   made anew in the order of its causes, so it comes after the copy's then, though it is older (seed 3000007727).
  private func meeting(isAhead: Bool) async throws -> ThingGroup {
    var group = try await ThingGroup(3)
    for id in ["ahead", "deleted", "edited", "gone", "raised"] {
      try await group.replicas[0].write { try $0.insert(Thing(id: id, name: "first")) }
    }
    // A clock that is hours ahead: who writes to this row again is ahead, too.
    group.clock.advance(50_000_000)
    try await group.replicas[0].write { _ = try $0.execute("UPDATE thing SET count = 1 WHERE id = 'ahead'") }
    for _ in 0..<2 { try await group.exchange() }
    group.clock.advance(-50_000_000)
    let place = group.folder.file("copy")
    try FileManager.default.copyItem(atPath: group.folder.file("replica-2"), toPath: place)
    group.replicas.append(try await ThingGroup.open(place, group.clock))
    let (original, copy) = (group.replicas[2], group.replicas[3])

    if isAhead { try await original.write { _ = try $0.execute("UPDATE thing SET count = 2 WHERE id = 'ahead'") } }
    try await original.write { tx in
      try tx.insert(Thing(id: "both", name: "by the original", code: "x", count: 1, tags: ["o"], best: 5))
      try tx.execute("UPDATE thing SET best = 9 WHERE id = 'raised'")
      try tx.execute("UPDATE thing SET name = 'by the original', code = 'y' WHERE id = 'gone'")
    }
    try await original.write { _ = try $0.execute("DELETE FROM thing WHERE id IN ('deleted', 'edited')") }
    group.clock.advance(7)
    try await copy.write { try $0.insert(Thing(id: "both", name: "by the copy", count: 2, tags: ["c"], best: 3)) }
    try await copy.write { tx in
      try tx.execute("UPDATE thing SET name = 'by the copy' WHERE id = 'edited'")
      try tx.execute("UPDATE thing SET best = 7 WHERE id = 'raised'")
      try tx.execute("UPDATE thing SET name = 'the last' WHERE id = 'gone'")
    }
    try await copy.write { _ = try $0.execute("UPDATE thing SET count = count + 10 WHERE id = 'both'") }
    #expect(try await group.send(3, 2).applied.transactions == 3)
    return group
  }

  private func things(_ replica: Replica) async throws -> [String] {
    try await replica.fetch(Thing.all).filter { !["ahead", "gone"].contains($0.id) }.sorted { $0.id < $1.id }.map {
      "\($0.id): \($0.name), \($0.code ?? "none"), \($0.count), \($0.tags.sorted()), \($0.best)"
    }
  }

  @Test("what won between the two wins again, and what lost stays listed", arguments: [false, true])
  func winsAgain(isAhead: Bool) async throws {
    let group = try await meeting(isAhead: isAhead)
    let (first, original) = (group.replicas[0], group.replicas[2])
    let before = [
      #"both: by the copy, none, 13, ["c", "o"], 5"#, "edited: by the copy, none, 0, [], 0",
      "raised: first, none, 0, [], 9",
    ]
    #expect(try await things(original) == before)

    try await first.members.remove("replica-2")
    try await first.write { tx in
      try tx.insert(Thing(id: "later"))
      try tx.execute("DELETE FROM thing WHERE id = 'gone'")
    }
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
    #expect(report.applied.state?.replayed == (isAhead ? 6 : 5))
    let after = try await things(original)
    #expect(after.filter { !$0.hasPrefix("later") } == before)
    let listed = try await original.conflicts.list()
    // What won between the two, of a row that is gone now, and what was written to its other cells.
    for value in ["by the original", "x", "the last", "y"] {
      #expect(listed.contains { $0.losingValues.contains(.text(value)) }, "\(value)")
    }
    #expect(listed.contains { $0.kind == .delete && $0.key == [.text("edited")] })
    #expect(try await original.maintenance.verify().problems.isEmpty)
  }
}
