import Foundation
import Godwit
import GodwitSimulation
import Testing

@Suite("State files")
struct StateFileTests {
  /// Two members with living, dead and hidden rows, and hidden references, some of it forgotten and some not.
  private func history() async throws -> ThingGroup {
    let group = try await ThingGroup(2)
    let (one, two) = (group.replicas[0], group.replicas[1])
    for id in ["a", "b", "c", "d"] { try await one.write { try $0.insert(Thing(id: id, name: "first", code: id)) } }
    for _ in 0..<2 { try await group.exchange() }
    for replica in group.replicas { try await replica.maintenance.compact() }
    try await one.write { try $0.insert(Thing(id: "e", code: "x", tags: ["red"])) }
    try await two.write { try $0.insert(Thing(id: "f", code: "x", count: 3)) }
    try await one.write { _ = try $0.delete(Thing.self, key: "d") }
    try await two.write { _ = try $0.execute("UPDATE thing SET name = 'second' WHERE id = 'd'") }
    try await one.write { _ = try $0.execute("UPDATE thing SET parent = 'b' WHERE id = 'a'") }
    try await two.write { _ = try $0.execute("UPDATE thing SET parent = 'a' WHERE id = 'b'") }
    try await group.exchange()
    for replica in group.replicas { try await replica.maintenance.compact() }
    try await one.write { _ = try $0.delete(Thing.self, key: "c") }
    try await one.write { _ = try $0.execute("UPDATE thing SET count = count + 2") }
    return group
  }

  @Test("a new member that joins by one and later files holds what the others hold")
  func joining() async throws {
    var group = try await history()
    let floor = try await group.logCount(0)
    let joined = try await group.join()
    let report = try await group.send(0, 2)
    #expect(report.applied.state != nil)
    #expect(try await joined.maintenance.digest() == group.replicas[0].maintenance.digest())
    #expect(try await group.logCount(2) == floor)
    for table in ["godwit_row", "godwit_limbo"] {
      #expect(try await group.count(table, 2) == group.count(table, 0))
    }
    #expect(try await joined.maintenance.verify().problems.isEmpty)

    // What was concurrent to the state file merges as it does elsewhere.
    try await group.replicas[1].write { _ = try $0.execute("UPDATE thing SET name = 'third', count = count + 1") }
    try await joined.write { _ = try $0.execute("UPDATE thing SET code = 'y' WHERE code = 'x'") }
    try await joined.write { try $0.insert(Thing(id: "c", name: "again")) }
    for _ in 0..<4 { try await group.exchange() }
    #expect(try await group.digests().count == 1)
    #expect(try await joined.count(Thing.all) == 6)
    for replica in group.replicas { #expect(try await replica.maintenance.verify().problems.isEmpty) }
  }

  @Test("one that brings nothing new is a no-op but for the acknowledgement")
  func nothingNew() async throws {
    let group = try await history()
    for _ in 0..<2 { try await group.exchange() }
    let digest = try await group.replicas[1].maintenance.digest()
    let file = group.folder.file("stateFile")
    #expect(try await group.replicas[0].exportState(to: .file(file)).isStateFile)
    let report = try await group.replicas[1].import(from: .file(file))
    #expect(report.applied.transactions == 0 && report.applied.state == nil)
    #expect(try await group.replicas[1].maintenance.digest() == digest)
  }

  @Test("a member that is not too old takes from one the transactions it lacks")
  func asTransactions() async throws {
    let group = try await history()
    let file = group.folder.file("stateFile")
    _ = try await group.replicas[0].exportState(to: .file(file))
    let report = try await group.replicas[1].import(from: .file(file))
    #expect(report.applied.transactions == 2 && report.applied.state == nil)
    #expect(try await group.digests().count == 1)
  }

  @Test("one that is cut, or changed anywhere, changes nothing")
  func damaged() async throws {
    var group = try await history()
    let joined = try await group.join()
    let file = group.folder.file("stateFile")
    _ = try await group.replicas[0].exportState(to: .file(file))
    let bytes = try Data(contentsOf: URL(fileURLWithPath: file))
    let empty = try await joined.maintenance.digest()
    for part in 1...12 {
      let position = bytes.count * part / 13
      var changed = bytes
      changed[position] ^= 4
      for damaged in [changed, bytes.prefix(position)] {
        try damaged.write(to: URL(fileURLWithPath: group.folder.file("damaged")))
        await #expect(throws: GodwitError.self) {
          try await joined.import(from: .file(group.folder.file("damaged")))
        }
      }
    }
    #expect(try await joined.maintenance.digest() == empty)
    #expect(try await joined.import(from: .file(file)).applied.state != nil)
  }

  @Test("state which rows were written beyond the clock, those included that are gone")
  func rowsAhead() async throws {
    var group = try await ThingGroup(2)
    let year: Int64 = 365 * 86_400_000
    let ahead = TestClock(group.clock.wallClock.milliseconds() + year)
    await group.replicas[1].close()
    group.replicas[1] = try await ThingGroup.open(group.folder.file("replica-1"), ahead)
    try await group.replicas[1].write { try $0.insert(Thing(id: "a")) }
    try await group.replicas[1].write { _ = try $0.execute("DELETE FROM thing") }
    for _ in 0..<2 { try await group.exchange() }
    try await group.replicas[0].maintenance.compact()
    #expect(try await group.logCount(0) == 0)

    let third = try await group.join()
    #expect(try await group.send(0, 2).applied.state != nil)
    try await third.write { try $0.insert(Thing(id: "a")) }
    #expect(try await third.standing().latest.milliseconds >= ahead.wallClock.milliseconds())
    try await third.write { try $0.insert(Thing(id: "b")) }
    #expect(try await third.standing().latest.milliseconds < ahead.wallClock.milliseconds())
  }

  @Test("a replica hours behind its sender's clock makes anew what that had deleted and forgotten, and all see it")
  func deletedBeyondReach() async throws {
    var group = try await ThingGroup(2)
    try await group.replicas[0].write { try $0.insert(Thing(id: "a", name: "old")) }
    try await group.replicas[0].write { _ = try $0.execute("DELETE FROM thing") }
    for _ in 0..<2 { try await group.exchange() }
    try await group.replicas[0].maintenance.compact()
    let left = [try await group.logCount(0), try await group.logCount(1)]
    #expect(left == [0, 2])

    let deletion = group.clock.wallClock.milliseconds()
    try await group.join()
    await group.replicas[2].close()
    group.replicas[2] = try await ThingGroup.open(group.folder.file("replica-2"), TestClock(deletion - 5 * 3_600_000))
    #expect(try await group.send(0, 2).applied.state != nil)
    try await group.replicas[2].write { try $0.insert(Thing(id: "a", name: "new")) }
    #expect(try await group.replicas[2].standing().latest.milliseconds >= deletion)
    for _ in 0..<2 { try await group.exchange() }
    for replica in group.replicas { #expect(try await replica.fetch(Thing.all).map(\.name) == ["new"]) }
    #expect(try await group.digests().count == 1)

    // And so does who joins by a state file of it.
    let fourth = try await group.join()
    try await group.send(0, 2)
    #expect(try await group.send(2, 3).applied.state != nil)
    try await fourth.write { _ = try $0.execute("UPDATE thing SET name = 'newer'") }
    for _ in 0..<2 { try await group.exchange() }
    for replica in group.replicas { #expect(try await replica.fetch(Thing.all).map(\.name) == ["newer"]) }
  }
}
