import Foundation
import Godwit
import Testing

@Suite("An import that is only planned")
struct ImportPlanTests {
  private func conflicting() async throws -> (MergeGroup, SyncSource) {
    let group = try await MergeGroup()
    try await group.write(
      0, "INSERT INTO page (id, title) VALUES ('a', 'x')", "INSERT INTO account (id, email) VALUES ('free', 'f')")
    try await group.exchange()
    try await group.write(0, "UPDATE page SET title = 'lost'", "INSERT INTO account (id, email) VALUES ('m', 'e')")
    try await group.write(1, "UPDATE page SET title = 'won'", "INSERT INTO account (id, email) VALUES ('n', 'e')")
    try await group.write(1, "UPDATE account SET plan = 'p' WHERE id = 'free'", "DELETE FROM page WHERE id = 'b'")
    let file = group.folder.file("planned")
    _ = try await group[1].export(to: .file(file))
    return (group, .file(file))
  }

  @Test("says what the import then does, with conflicts, limbo and the changes by table")
  func foretells() async throws {
    let (group, file) = try await conflicting()
    let plan = try await group[0].plan(importing: file)
    #expect(plan.conflicts.map(\.kind) == [.edit, .unique] && plan.conflicts.map(\.losingValue) == ["lost", "e"])
    #expect(plan.limbo.map(\.key) == [["n"]] && plan.limboCount == 1)
    #expect(plan.changes.map(\.table) == ["account", "page"])
    #expect(plan.changes.map(\.inserted) == [1, 0] && plan.changes.map(\.updated) == [1, 1])
    let report = try await group[0].import(from: file)
    #expect(report.applied.transactions == 2 && report.applied.transactions == plan.report.applied.transactions)
    #expect(
      report.applied.rows == plan.report.applied.rows && report.attention.conflicts == plan.report.attention.conflicts)
    #expect(try await group[0].conflicts.list().map(\.id) == plan.conflicts.reversed().map(\.id))
    #expect(try await group[0].history.limbo().map(\.key) == plan.limbo.map(\.key))
  }

  @Test("changes nothing: neither rows nor log, conflicts, limbo, what is unsent, or the replica's incarnation")
  func changesNothing() async throws {
    let (group, file) = try await conflicting()
    let replica = group[0]
    let (digest, status) = (try await replica.maintenance.digest(), try await replica.status())
    for _ in 1...2 { _ = try await replica.plan(importing: file) }
    let after = try await replica.status()
    #expect(try await replica.maintenance.digest() == digest)
    #expect(after.incarnation == status.incarnation && after.unsent == status.unsent)
    #expect(after.applied.map(\.sequence) == status.applied.map(\.sequence))
    #expect(after.conflicts == 0 && after.limbo == 0 && after.prunedConflicts == 0)
    #expect(try await replica.maintenance.verify().problems.isEmpty)
    // And the replica works as if nothing had been: it writes, and takes in the file.
    try await group.write(0, "UPDATE page SET title = 'later'")
    _ = try await replica.import(from: file)
    try await group.exchange()
    #expect(try await group.rows("SELECT title FROM page") == [["later"]])
  }

  @Test("a file from elsewhere with tables of its own leaves none of them")
  func adoptsNothing() async throws {
    let folder = try TemporaryFolder()
    let clock = TestClock()
    let first = try await ReplicaPair.open(folder.file("first"), [Bookcase.self], clock)
    let identity = try await Replica.identity(at: folder.file("second"))
    try await first.members.invite(
      identity, name: "second", verification: .trustOnFirstUse, to: .file(folder.file("invitation")))
    let second = try await Replica.join(
      at: folder.file("second"), invitation: .file(folder.file("invitation")), inviter: .trustOnFirstUse)
    try await first.write { try $0.insert(Bookcase(id: "a", name: "n")) }
    _ = try await first.export(to: .file(folder.file("file")))
    let plan = try await second.plan(importing: .file(folder.file("file")))
    #expect(plan.changes.map(\.table) == ["shelf"] && plan.report.applied.transactions == 1)
    #expect(try await second.status().tables.isEmpty)
    #expect(try await second.import(from: .file(folder.file("file"))).applied.transactions == 1)
    #expect(try await second.rows("SELECT name FROM shelf").map(\.values) == [["n"]])
    await second.close()
  }

  @Test("a damaged file is refused as by the import")
  func damaged() async throws {
    let (group, _) = try await conflicting()
    let path = group.folder.file("damaged")
    _ = try await group[1].export(to: .file(path))
    let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    try bytes.dropLast(40).write(to: URL(fileURLWithPath: path))
    let refusal = await code { try await group[0].plan(importing: .file(path)) }
    #expect([.truncatedFile, .corruptFile].contains(refusal))
    #expect(await code { try await group[0].import(from: .file(path)) } == refusal)
  }

  @Test("of a state file states how many rows of each table it brings")
  func stateFile() async throws {
    var group = try await ThingGroup(2)
    for id in ["a", "b", "c"] { try await group.replicas[0].write { try $0.insert(Thing(id: id)) } }
    for _ in 0..<2 { try await group.exchange() }
    for replica in group.replicas { try await replica.maintenance.compact() }
    let joined = try await group.join()
    let file = group.folder.file("stateFile")
    _ = try await group.replicas[0].export(to: .file(file), for: "replica-2")
    let empty = try await joined.maintenance.digest()

    let plan = try await joined.plan(importing: .file(file))

    #expect(plan.report.applied.state?.rows == 3 && plan.report.applied.state?.replayed == 0)
    #expect(plan.state.map(\.table) == ["remark", "thing"] && plan.state.map(\.rows) == [0, 3])
    #expect(plan.state.map(\.rowsBefore) == [0, 0] && plan.changes.isEmpty)
    #expect(try await joined.maintenance.digest() == empty)
    let report = try await joined.import(from: .file(file))
    #expect(report.applied.state?.rows == 3 && report.applied.state != nil)
    #expect(try await joined.maintenance.digest() == group.replicas[0].maintenance.digest())
  }

  /// A member that was away while the others forgot what it lacks, and a state file for it.
  private func fenced() async throws -> (ThingGroup, file: String) {
    let group = try await ThingGroup(3)
    for id in ["a", "b"] { try await group.replicas[0].write { try $0.insert(Thing(id: id)) } }
    for _ in 0..<2 { try await group.exchange() }
    try await group.replicas[2].write { tx in
      try tx.insert(Thing(id: "own"))
      try tx.execute("UPDATE thing SET name = 'lost' WHERE id = 'b'")
    }
    try await group.replicas[0].members.remove("replica-2")
    try await group.replicas[0].write { tx in
      try tx.insert([Thing(id: "c"), Thing(id: "d")])
      try tx.execute("DELETE FROM thing WHERE id = 'b'")
    }
    for _ in 0..<3 {
      try await group.send(0, 1)
      try await group.send(1, 0)
    }
    for index in 0..<2 { try await group.replicas[index].maintenance.compact() }
    group.clock.advance(1_000)
    try await group.replicas[0].members.invite(
      group.replicas[2].identity, name: "replica-2", verification: .trustOnFirstUse,
      to: .file(group.folder.file("again")))
    let file = group.folder.file("stateFile")
    _ = try await group.replicas[0].export(to: .file(file), for: "replica-2")
    return (group, file)
  }

  @Test("of a rejoining states what would take the state's place and what is made anew, and leaves all as it is")
  func rejoining() async throws {
    let (group, file) = try await fenced()
    let replica = group.replicas[2]
    #expect(await code { try await replica.plan(importing: .file(file)) } == .fenced)
    let anchor = URL(fileURLWithPath: group.folder.file("replica-2/keyring.anchor"))
    let (digest, status) = (try await replica.maintenance.digest(), try await replica.status())
    let before = try Data(contentsOf: anchor)

    let plan = try await replica.plan(importing: .file(file), isRejoining: true)

    #expect(plan.report.applied.state?.rows == 3 && plan.report.applied.state?.replayed == 1)
    #expect(plan.state.map(\.table) == ["remark", "thing"] && plan.state.map(\.rowsBefore) == [0, 3])
    #expect(plan.state.map(\.rows) == [0, 3])
    #expect(plan.changes.map(\.table) == ["thing"] && plan.changes.map(\.inserted) == [1])
    #expect(plan.conflicts.map(\.losingValue) == ["lost"])
    #expect(try Data(contentsOf: anchor) == before)
    let after = try await replica.status()
    #expect(try await replica.maintenance.digest() == digest)
    #expect(after.incarnation == status.incarnation && after.unsent == status.unsent && after.conflicts == 0)
    #expect(try await replica.maintenance.verify().problems.isEmpty)
    try await replica.write { try $0.insert(Thing(id: "later")) }
    let report = try await replica.rejoin(from: .file(file))
    #expect(report.applied.state?.replayed == 2 && report.applied.state?.rows == plan.report.applied.state?.rows)
    for _ in 0..<3 { try await group.exchange() }
    #expect(try await group.digests().count == 1)
    #expect(try await group.replicas[0].fetch(Thing.all).map(\.id).sorted() == ["a", "c", "d", "later", "own"])
  }
}
