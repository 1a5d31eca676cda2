import Foundation
import Godwit
import Testing

@Suite("Rejoining")
struct RejoiningTests {
  /// A member that is away while the others, which have removed it, forget what it lacks.
  private func absence() async throws -> ThingGroup {
    let group = try await ThingGroup(3)
    for id in ["kept", "edited", "deleted", "taken"] {
      try await group.replicas[0].write { try $0.insert(Thing(id: id, name: "first", count: 1)) }
    }
    try await group.exchange()
    try await group.exchange()

    try await group.replicas[2].write { tx in
      try tx.execute(
        #"UPDATE thing SET name = 'by the absent', count = count + 5, tags = '["t"]' WHERE id IN ('edited', 'deleted')"#
      )
      try tx.insert(Thing(id: "new", name: "by the absent"))
      try tx.insert(Thing(id: "same", name: "by the absent", best: 4))
      try tx.insert(Thing(id: "claim", code: "x"))
      try tx.insert(Remark(id: "on what is gone", text: "by the absent", thing: "deleted"))
      try tx.insert(Remark(id: "on what is here", text: "by the absent", thing: "kept"))
    }
    try await group.replicas[0].members.remove("replica-2")
    try await group.replicas[0].write { tx in
      try tx.execute("DELETE FROM thing WHERE id = 'deleted'")
      try tx.execute("UPDATE thing SET name = 'by the others', count = count + 1 WHERE id = 'edited'")
      try tx.insert(Thing(id: "same", name: "by the others", best: 9))
      try tx.insert(Thing(id: "taken too", code: "x"))
    }
    for _ in 0..<3 {
      try await group.send(0, 1)
      try await group.send(1, 0)
    }
    for index in 0..<2 {
      try await group.replicas[index].maintenance.compact()
      #expect(try await group.logCount(index) == 0)
    }
    return group
  }

  @Test("a removed member's files are refused, and none is sealed to it")
  func removed() async throws {
    let group = try await absence()
    let refusal = await error { try await group.send(2, 0) }
    #expect(refusal?.code == .unknownSender)
    #expect(refusal?.message.contains("removed") == true)
    #expect(await code { try await group.send(0, 2) } == .notARecipient)
  }

  @Test("what a replica writes without having seen what is forgotten is left out, and a file without it is no help")
  func tooOld() async throws {
    let group = try await absence()
    try await readmit(group)
    let before = try await group.replicas[0].maintenance.digest()
    let report = try await group.send(2, 0)
    #expect(report.applied.transactions == 0 && report.waiting.transactions == 0)
    #expect(
      report.attention.leftOut == [
        .init(replica: group.replicas[2].identity.replica, sequences: 1...1, reason: .fenced)
      ])
    #expect(report.attention.fenced == [group.replicas[2].identity.replica])
    #expect(try await group.replicas[0].maintenance.digest() == before)
    let refusal = await error { try await group.send(0, 2) }
    #expect(refusal?.code == .fenced)
    #expect(refusal?.hint?.contains("--rejoin") == true)
  }

  @Test("the way back keeps its own unsent work, and nothing deleted comes back")
  func wayBack() async throws {
    let group = try await absence()
    try await readmit(group)
    let file = group.folder.file("stateFile")
    _ = try await group.replicas[0].export(to: .file(file))
    let plan = try await group.replicas[2].plan(importing: .file(file), isRejoining: true)
    let report = try await group.replicas[2].rejoin(from: .file(file))
    #expect(report.applied.state?.replayed == 1)
    #expect(try await group.replicas[2].maintenance.verify().problems.isEmpty)

    let rows = try await group.replicas[2].fetch(Thing.all).sorted { $0.id < $1.id }
    #expect(rows.map(\.id) == ["edited", "kept", "new", "same", "taken", "taken too"])
    #expect(rows.map(\.name) == ["by the absent", "first", "by the absent", "by the absent", "first", ""])
    #expect(rows.first?.count == 7)
    #expect(try await group.replicas[2].fetch(Remark.all).map(\.id) == ["on what is here"])
    let conflicts = try await group.replicas[2].conflicts.list()
    #expect(conflicts.contains { $0.column == "name" && $0.losingValue == .text("by the absent") })
    // What was added to a count or set is what it would have made of it.
    #expect(conflicts.contains { $0.column == "count" && $0.losingValue == 5 })
    #expect(conflicts.contains { $0.column == "tags" && $0.losingValue == #"["t"]"# })
    #expect(conflicts.contains { $0.kind == .constraint && $0.losingValues.contains("x") })
    #expect(report.attention.conflicts == conflicts.count && plan.report.attention.conflicts == conflicts.count)
    #expect(plan.conflicts.count == conflicts.count)
    // Nobody knows any more whether the absent one had seen what it takes the place of.
    #expect(
      conflicts.filter { $0.losingValue == "by the others" }.map(\.winningValue) == ["by the absent", "by the absent"])
    #expect(conflicts.contains { $0.column == "best" && $0.losingValue == 9 && $0.winningValue == 4 })
    // A row that is gone with all that was remembered of it takes nothing back; a whole one can come.
    let gone = try #require(conflicts.first { $0.column == "name" && $0.key == ["deleted"] })
    #expect(try await group.replicas[2].conflicts.lacksRow(of: gone.id))
    #expect(await code { try await group.replicas[2].conflicts.restore(gone.id) } == .notFound)
    let whole = try #require(conflicts.first { $0.kind == .constraint })
    #expect(try await !group.replicas[2].conflicts.lacksRow(of: whole.id))
    let none = try #require(Conflict.ID("999"))
    #expect(await code { try await group.replicas[2].conflicts.lacksRow(of: none) } == .notFound)

    for _ in 0..<3 { try await group.exchange() }
    #expect(try await group.digests().count == 1)
    for index in group.replicas.indices {
      try await group.replicas[index].maintenance.compact()
      #expect(try await group.logCount(index) == 0)
    }
    // Once more there is nothing to rejoin for.
    let again = try await group.replicas[2].rejoin(from: .file(file))
    #expect(again.applied.state == nil && again.applied.transactions == 0)
  }

  @Test("a row that could not be made anew is restored whole, once what stands in its way is gone")
  func restored() async throws {
    let group = try await absence()
    try await readmit(group)
    let file = group.folder.file("stateFile")
    _ = try await group.replicas[0].export(to: .file(file))
    let replica = group.replicas[2]
    _ = try await replica.rejoin(from: .file(file))
    let conflict = try #require(
      try await replica.conflicts.list(kind: .constraint).first { $0.losingValues.contains("x") })
    #expect(await code { try await replica.conflicts.restore(conflict.id) } == .constraint)
    #expect(try await replica.conflicts.show(conflict.id)?.isResolved == false)
    try await replica.write { _ = try $0.execute("UPDATE thing SET code = NULL WHERE id = 'taken too'") }
    #expect(try await replica.conflicts.restore(conflict.id))
    #expect(try await replica.fetch(Thing.all).first { $0.id == "claim" }?.code == "x")
    #expect(try await replica.conflicts.show(conflict.id)?.isResolved == true)
    #expect(try await replica.conflicts.restore(conflict.id) == false)
  }

  @Test("a rejoin that fails changes nothing: the replica stays in its incarnation")
  func failed() async throws {
    var group = try await absence()
    // Its end, which is cut, is read when the former state is gone already.
    try await group.replicas[0].write { transaction in
      for number in 0..<1_000 {
        let name = (0..<8).map { _ in UUID().uuidString }.joined()
        try transaction.insert(Thing(id: "many \(number)", name: name))
      }
    }
    try await readmit(group)
    let file = group.folder.file("stateFile")
    _ = try await group.replicas[0].exportState(to: .file(file), for: "replica-2")
    let bytes = try Data(contentsOf: URL(fileURLWithPath: file))
    #expect(bytes.count > 150_000)
    try bytes.dropLast(20).write(to: URL(fileURLWithPath: file))
    let (digest, incarnation) = (
      try await group.replicas[2].maintenance.digest(), try await group.replicas[2].status().incarnation
    )
    await #expect(throws: GodwitError.self) { try await group.replicas[2].rejoin(from: .file(file)) }
    #expect(try await group.replicas[2].status().incarnation == incarnation)
    await group.replicas[2].close()
    group.replicas[2] = try await ThingGroup.open(group.folder.file("replica-2"), group.clock)
    #expect(try await group.replicas[2].status().incarnation == incarnation)
    #expect(try await group.replicas[2].maintenance.digest() == digest)
  }

  @Test("a file from before a rejoin that arrives late brings nothing twice, and keeps nothing from being forgotten")
  func lateFile() async throws {
    let group = try await absence()
    try await readmit(group)
    let (late, stateFile) = (group.folder.file("late"), group.folder.file("stateFile"))
    _ = try await group.replicas[2].export(to: .file(late))
    _ = try await group.replicas[0].export(to: .file(stateFile))
    _ = try await group.replicas[2].rejoin(from: .file(stateFile))
    try await group.send(2, 0)

    let report = try await group.replicas[0].import(from: .file(late))

    #expect(report.applied.transactions == 0 && report.waiting.transactions == 0)
    #expect(report.attention.leftOut.map(\.reason) == [.ended])
    for _ in 0..<3 { try await group.exchange() }
    #expect(try await group.digests().count == 1)
    for index in group.replicas.indices {
      try await group.replicas[index].maintenance.compact()
      #expect(try await group.logCount(index) == 0)
    }
  }

  @Test("what two that rejoin one after another have both given up keeps nobody from forgetting, and is made anew once")
  func givenUpTwice() async throws {
    let group = try await ThingGroup(3)
    for _ in 0..<2 { try await group.exchange() }
    try await group.replicas[2].write { try $0.insert(Thing(id: "a", count: 1)) }
    try await group.send(2, 1)
    try await group.replicas[2].write { try $0.insert(Thing(id: "b", count: 1)) }
    try await group.replicas[1].write { try $0.insert(Thing(id: "c", count: 1)) }
    let (first, second) = (group.folder.file("first"), group.folder.file("second"))
    _ = try await group.replicas[1].exportState(to: .file(first), for: "replica-2")
    #expect(try await group.replicas[2].rejoin(from: .file(first)).applied.state?.replayed == 1)
    // Its incarnation ended with nothing to wait for, though the state file had something of it.
    let ends = try await group.replicas[2].rows(
      "SELECT ended FROM godwit_origin WHERE ended IS NOT NULL AND sequence > 0")
    #expect(ends.map(\.values) == [[.integer(0)]])
    // The other one that holds "a" goes back to who does not, and so does its author, who makes it anew.
    try await group.replicas[0].write { try $0.insert(Thing(id: "d", count: 1)) }
    for index in 1...2 {
      _ = try await group.replicas[0].exportState(to: .file(second), for: "replica-\(index)")
      #expect(try await group.replicas[index].rejoin(from: .file(second)).applied.state != nil)
    }
    for _ in 0..<4 { try await group.exchange() }
    #expect(try await group.digests().count == 1)
    #expect(try await group.replicas[0].fetch(Thing.all).map(\.id).sorted() == ["a", "b", "c", "d"])
    for index in group.replicas.indices {
      try await group.replicas[index].maintenance.compact()
      #expect(try await group.logCount(index) == 0)
    }
  }

  @Test("what a removed member wrote is made anew even when the one it comes back to has forgotten nothing yet")
  func backToWhoRemembers() async throws {
    let group = try await ThingGroup(3)
    for _ in 0..<2 { try await group.exchange() }
    try await group.replicas[2].write { try $0.insert(Thing(id: "late", name: "by the absent")) }
    try await group.replicas[0].members.remove("replica-2")
    try await group.replicas[0].write { try $0.insert(Thing(id: "a", name: "first")) }
    for _ in 0..<3 {
      try await group.send(0, 1)
      try await group.send(1, 0)
    }
    // This one knows that all members hold it; the other has not forgotten it.
    try await group.replicas[1].maintenance.compact()
    try await readmit(group)
    let file = group.folder.file("stateFile")
    _ = try await group.replicas[0].exportState(to: .file(file), for: "replica-2")
    let report = try await group.replicas[2].rejoin(from: .file(file))
    #expect(report.applied.state?.replayed == 1)
    for _ in 0..<3 { try await group.exchange() }
    #expect(try await group.digests().count == 1)
    #expect(try await group.replicas[1].fetch(Thing.all).map(\.id).sorted() == ["a", "late"])
  }

  @Test("what a new member wrote ahead of its first file is made anew on top of it")
  func earlyWrites() async throws {
    var group = try await ThingGroup(2)
    try await group.replicas[0].write { try $0.insert(Thing(id: "a", name: "old")) }
    for _ in 0..<2 { try await group.exchange() }
    for index in 0..<2 { try await group.replicas[index].maintenance.compact() }
    let joined = try await group.join()
    try await joined.write { try $0.insert(Thing(id: "a", name: "early")) }
    let report = try await group.send(0, 2)
    #expect(report.applied.state?.replayed == 1)
    for _ in 0..<3 { try await group.exchange() }
    #expect(try await group.digests().count == 1)
    for replica in group.replicas { #expect(try await replica.fetch(Thing.all).map(\.name) == ["early"]) }
  }

  private func readmit(_ group: ThingGroup) async throws {
    group.clock.advance(1_000)
    let identity = group.replicas[2].identity
    try await group.replicas[0].members.invite(
      identity, name: "replica-2", verification: .trustOnFirstUse, to: .file(group.folder.file("again")))
  }
}
