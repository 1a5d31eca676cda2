import Foundation
import GodwitStorage
import GodwitSimulation
import Testing

@testable import Godwit
@testable import GodwitEngine

@Suite("Forgetting")
struct ForgettingTests {
  private func thing(_ id: String, _ name: String = "", code: String? = nil) -> Thing {
    Thing(id: id, name: name, code: code)
  }

  @Test("what all members hold is dropped from the log, with nothing of it left in the row states")
  func drops() async throws {
    let group = try await ThingGroup(2)
    for number in 0..<20 { try await group.replicas[0].write { try $0.insert(Thing(id: "\(number)")) } }
    try await group.replicas[1].write { try $0.insert(Thing(id: "other")) }
    try await group.exchange()
    try await group.exchange()
    let digest = try await group.replicas[0].maintenance.digest()
    for index in 0..<2 {
      try await group.replicas[index].maintenance.compact()
      #expect(try await group.logCount(index) == 0)
      #expect(try await group.count("godwit_row", index) == 0)
      #expect(try await group.replicas[index].maintenance.digest() == digest)
      let report = try await group.replicas[index].maintenance.verify()
      #expect(report.problems.isEmpty && report.transactions == 0)
    }
  }

  @Test("a member that never acknowledged anything keeps everything")
  func silentMember() async throws {
    var group = try await ThingGroup(2)
    try await group.join()
    try await group.replicas[0].write { try $0.insert(Thing(id: "a")) }
    for _ in 0..<2 {
      try await group.send(0, 1)
      try await group.send(1, 0)
    }
    #expect(try await group.replicas[0].maintenance.compact().transactions == 0)
    #expect(try await group.logCount(0) == 1)
  }

  @Test(
    "an edit with a clock that was set back wins over what was forgotten, before it was set or after",
    arguments: [true, false])
  func clockSetBack(isSetFirst: Bool) async throws {
    let group = try await ThingGroup(2)
    try await group.replicas[0].write { try $0.insert(Thing(id: "a", name: "old")) }
    for _ in 0..<2 { try await group.exchange() }
    if isSetFirst { group.clock.advance(-5 * 3_600_000) }
    try await group.replicas[0].maintenance.compact()
    if !isSetFirst { group.clock.advance(-5 * 3_600_000) }
    try await group.replicas[0].write { _ = try $0.execute("UPDATE thing SET name = 'new'") }
    // The other remembers, and merges because of something else.
    try await group.replicas[1].write { try $0.insert(Thing(id: "b")) }
    for _ in 0..<2 { try await group.exchange() }
    #expect(try await group.digests().count == 1)
    #expect(try await group.replicas[1].fetch(Thing.all).map(\.name).sorted() == ["", "new"])
  }

  @Test("what was forgotten beyond the clock is edited above it, also when the clock has passed it and was set back")
  func passedAndSetBack() async throws {
    var group = try await ThingGroup(2)
    let year: Int64 = 365 * 86_400_000
    let ahead = TestClock(group.clock.wallClock.milliseconds() + year)
    await group.replicas[1].close()
    group.replicas[1] = try await ThingGroup.open(group.folder.file("replica-1"), ahead)
    try await group.replicas[1].write { try $0.insert(Thing(id: "a", name: "old")) }
    for _ in 0..<2 { try await group.exchange() }
    try await group.replicas[0].maintenance.compact()
    #expect(try await group.logCount(0) == 0)

    group.clock.advance(year + 1)
    try await group.replicas[0].write { try $0.insert(Thing(id: "b")) }
    group.clock.advance(-year)
    try await group.replicas[0].write { _ = try $0.execute("UPDATE thing SET name = 'new' WHERE id = 'a'") }
    #expect(try await group.replicas[0].standing().latest.milliseconds >= ahead.wallClock.milliseconds())
    for _ in 0..<2 { try await group.exchange() }
    #expect(try await group.replicas[1].fetch(Thing.self, key: "a")?.name == "new")
    #expect(try await group.digests().count == 1)
  }

  @Test("a replica that lacks what the sender has forgotten is named as too old, and a state file ends that")
  func tooOldHere() async throws {
    let group = try await ThingGroup(2)
    let backup = group.folder.file("backup")
    try FileManager.default.copyItem(atPath: group.folder.file("replica-1"), toPath: backup)
    try await group.replicas[0].write { try $0.insert(Thing(id: "a")) }
    try await group.send(0, 1)
    try await group.send(1, 0)
    try await group.replicas[0].maintenance.compact()
    #expect(try await group.replicas[0].history.log().isEmpty)
    try await group.replicas[0].write { try $0.insert(Thing(id: "b")) }
    let (file, state) = (group.folder.file("file"), group.folder.file("state"))
    _ = try await group.replicas[0].export(to: .file(file))
    _ = try await group.replicas[0].exportState(to: .file(state))

    let restored = try await ThingGroup.open(backup, group.clock)
    let report = try await restored.import(from: .file(file))
    #expect(report.applied.transactions == 0 && report.waiting.transactions == 1)
    #expect(report.attention.fenced == [restored.identity.replica] && !report.attention.isEmpty)
    let whole = try await restored.rejoin(from: .file(state))
    #expect(whole.applied.state?.rows == 2 && whole.applied.state?.replayed == 0)
    #expect(whole.waiting.transactions == 0 && whole.attention.isEmpty)
    await restored.close()
  }

  @Test("a statement counts only once all it says is held here")
  func pendingStatement() async throws {
    let group = try await ThingGroup(2)
    try await group.replicas[0].write { try $0.insert(Thing(id: "a")) }
    let backup = group.folder.file("backup")
    try FileManager.default.copyItem(atPath: group.folder.file("replica-0"), toPath: backup)
    try await group.send(0, 1)
    try await group.replicas[1].write { try $0.insert(Thing(id: "b")) }
    let first = group.folder.file("first")
    _ = try await group.replicas[1].export(to: .file(first))
    _ = try await group.replicas[0].import(from: .file(first))
    try await group.send(0, 1)
    try await group.replicas[1].write { try $0.insert(Thing(id: "c")) }
    let second = group.folder.file("second")
    _ = try await group.replicas[1].export(to: .file(second))

    let restored = try await ThingGroup.open(backup, group.clock)
    #expect(try await restored.import(from: .file(second)).waiting.transactions == 1)
    // The file says that its sender holds "a", and that it holds what is not here.
    #expect(try await restored.maintenance.compact().transactions == 0)
    #expect(try await restored.history.log().count == 1)
    #expect(try await restored.import(from: .file(first)).applied.transactions == 2)
    // Until it is said to have ended, the original may live on and write. It has said that it holds "a" and "b", and
    // that was passed on; nobody knows that it holds "c".
    try await restored.maintenance.compact()
    #expect(try await restored.history.log().count == 1)
    let original = try await group.replicas[0].standing().own.incarnationID
    let name = try #require(try await group.replicas[1].members.list().first { !$0.isOwn }?.name)
    try await group.replicas[1].members.end(original, of: name)
    let third = group.folder.file("third")
    _ = try await group.replicas[1].export(to: .file(third))
    _ = try await restored.import(from: .file(third))
    try await restored.maintenance.compact()
    #expect(try await restored.history.log().isEmpty)
    #expect(try await restored.count(Thing.all) == 3)
  }

  @Test("a copy and its original acknowledge each for itself")
  func copied() async throws {
    var group = try await ThingGroup(2)
    try await group.replicas[0].write { try $0.insert(Thing(id: "a")) }
    try await group.exchange()
    let place = group.folder.file("copy")
    try FileManager.default.copyItem(atPath: group.folder.file("replica-1"), toPath: place)
    group.replicas.append(try await ThingGroup.open(place, group.clock))
    try await group.exchange()
    try await group.replicas[0].maintenance.compact()

    // The copy takes in what the original does not, says so, and the original writes to the same row.
    try await group.replicas[0].write { _ = try $0.execute("UPDATE thing SET name = 'later'") }
    try await group.send(0, 2)
    try await group.send(2, 0)
    #expect(try await group.replicas[0].maintenance.compact().transactions == 0)
    try await group.replicas[1].write { _ = try $0.execute("UPDATE thing SET count = count + 1") }
    #expect(try await group.send(1, 0).applied.transactions == 1)
    #expect(try await group.send(0, 1).applied.transactions >= 1)
    for _ in 0..<2 { try await group.exchange() }
    #expect(try await group.digests().count == 1)
    try await group.replicas[0].maintenance.compact()
    #expect(try await group.logCount(0) == 0)
  }

  @Test("nothing is kept for a copy that nobody knows; what is said to have ended and lives takes a new incarnation")
  func ended() async throws {
    let group = try await ThingGroup(2)
    let original = try await group.replicas[1].standing().own
    try await group.replicas[0].members.end(original.incarnationID, of: "replica-1")
    try await group.replicas[1].write { try $0.insert(Thing(id: "a")) }
    // The member lives under another incarnation, which may lack anything.
    try await group.replicas[0].write { try $0.insert(Thing(id: "0")) }
    #expect(try await group.replicas[0].maintenance.compact().transactions == 0)
    // Whoever knows the end takes nothing beyond it …
    let early = try await group.send(1, 0)
    #expect(early.waiting.transactions == 0)
    #expect(early.attention.leftOut == [.init(replica: original.replica, sequences: 1...1, reason: .ended)])
    // … until the author has learned of it, and states how far it went.
    try await group.send(0, 1)
    #expect(try await group.replicas[1].standing().own != original)
    let report = try await group.send(1, 0)
    #expect(report.attention.leftOut.isEmpty)
    #expect(try await group.digests().count == 1)
    #expect(try await group.replicas[0].count(Thing.all) == 2)
    await #expect(throws: GodwitError.self) {
      let own = try await group.replicas[0].standing().own
      try await group.replicas[0].members.end(own.incarnationID, of: "replica-1")
    }
  }

  @Test("a member restored from a backup says that it holds less, and is sent again what it lacks")
  func restored() async throws {
    let group = try await ThingGroup(3)
    let backup = group.folder.file("backup")
    try FileManager.default.copyItem(atPath: group.folder.file("replica-1"), toPath: backup)
    try await group.replicas[0].write { try $0.insert(Thing(id: "a")) }
    try await group.send(0, 1)
    try await group.send(1, 0)
    group.clock.advance(1_000)
    let restored = try await ThingGroup.open(backup, group.clock)
    let (statement, answer) = (group.folder.file("statement"), group.folder.file("answer"))
    _ = try await restored.export(to: .file(statement))
    _ = try await group.replicas[0].import(from: .file(statement))
    #expect(try await group.replicas[0].export(to: .file(answer), for: "replica-1").transactions == 1)
    _ = try await restored.import(from: .file(answer))
    #expect(try await restored.fetch(Thing.all).map(\.id) == ["a"])
  }

  @Test("a removed member counts until all others are known to know of its removal")
  func removal() async throws {
    let group = try await ThingGroup(3)
    try await group.replicas[0].write { try $0.insert(Thing(id: "a")) }
    try await group.send(0, 1)
    try await group.send(1, 0)
    #expect(try await group.replicas[0].maintenance.compact().transactions == 0)
    try await group.replicas[0].members.remove("replica-2")
    #expect(try await group.replicas[0].maintenance.compact().transactions == 0)
    try await group.send(0, 1)
    try await group.send(1, 0)
    try await group.replicas[0].maintenance.compact()
    #expect(try await group.logCount(0) == 0)
  }

  @Test("a key inserted again after its delete was forgotten is a new row on all")
  func insertAgain() async throws {
    let group = try await ThingGroup(2)
    try await group.replicas[0].write { try $0.insert(Thing(id: "a", name: "old", count: 7)) }
    try await group.exchange()
    try await group.replicas[1].write { _ = try $0.delete(Thing.self, key: "a") }
    for _ in 0..<2 { try await group.exchange() }
    for index in 0..<2 {
      try await group.replicas[index].maintenance.compact()
      #expect(try await group.count("godwit_row", index) == 0)
    }
    try await group.replicas[0].write { try $0.insert(Thing(id: "a", name: "new", count: 1)) }
    try await group.exchange()
    for replica in group.replicas {
      #expect(try await replica.fetch(Thing.all).map { [$0.name, "\($0.count)"] } == [["new", "1"]])
    }
    #expect(try await group.digests().count == 1)
  }

  @Test("a replica without other members keeps no history beyond the latest, and a member invited later gets the state")
  func alone() async throws {
    var group = try await ThingGroup(1)
    for number in 0..<100 { try await group.replicas[0].write { try $0.insert(Thing(id: "\(number)")) } }
    await group.replicas[0].close()
    group.replicas[0] = try await ThingGroup.open(group.folder.file("replica-0"), group.clock)
    #expect(try await group.logCount(0) == 0)
    try await group.replicas[0].write { _ = try $0.delete(Thing.self, key: "7") }
    #expect(try await group.replicas[0].history.log().map(\.sequence) == [101])
    try await group.join()
    #expect(try await group.send(0, 1).applied.state != nil)
    #expect(try await group.digests().count == 1)
    #expect(try await group.replicas[1].count(Thing.all) == 99)
  }

  @Test("imports forget by themselves once the log is long, and a round without writes does not undo it")
  func automatic() async throws {
    let group = try await ThingGroup(2)
    for number in 0...Forgetting.keptTransactions {
      try await group.replicas[0].write { try $0.insert(Thing(id: "\(number)")) }
    }
    for _ in 0..<3 { try await group.exchange() }
    #expect(try await group.logCount(0) <= Forgetting.keptTransactions)
    #expect(try await group.logCount(1) <= Forgetting.keptTransactions)
    #expect(try await group.send(0, 1).applied.transactions == 0)
  }

  @Test("the log's numbers continue after all of it was forgotten, also across a restart")
  func numbersGoOn() async throws {
    let group = try await ThingGroup(2)
    for id in ["a", "b"] { try await group.replicas[0].write { try $0.insert(Thing(id: id)) } }
    for _ in 0..<2 { try await group.exchange() }
    try await group.replicas[0].maintenance.compact()
    await group.replicas[0].close()
    let again = try await ThingGroup.open(group.folder.file("replica-0"), group.clock)
    try await again.write { try $0.insert(Thing(id: "c")) }
    #expect(try await again.history.log().map(\.sequence) == [3])
    #expect(try await again.maintenance.verify().problems.isEmpty)
    let file = group.folder.file("file")
    _ = try await again.export(to: .file(file))
    #expect(try await group.replicas[1].import(from: .file(file)).applied.transactions == 1)
    #expect(try await group.replicas[1].maintenance.digest() == again.maintenance.digest())
  }

  @Test("once all members hold everything, the database is as large as the same tables without sync")
  func size() async throws {
    let group = try await ThingGroup(2)
    let local = try await Replica.open(at: group.folder.file("local"), models: LocalThing.self)
    for start in 0..<40 {
      let range = start * 125..<(start + 1) * 125
      try await group.replicas[0].write { try $0.insert(range.map(Thing.numbered)) }
      try await local.write { try $0.insert(range.map { LocalThing(Thing.numbered($0)) }) }
    }
    for _ in 0..<2 { try await group.exchange() }
    for replica in group.replicas { try await replica.maintenance.compact() }
    await local.close()
    func size(_ name: String) throws -> Double {
      let attributes = try FileManager.default.attributesOfItem(atPath: group.folder.file("\(name)/database"))
      return Double(attributes[.size] as? Int ?? 0)
    }
    let plain = try size("local")
    // Godwit's own tables and the slack of free pages are a fixed part, which counts for little in a real database.
    let fixed = 46.0 * 4_096
    #expect(try size("replica-0") <= plain * 1.02 + fixed)
    #expect(try size("replica-1") <= plain * 1.02 + fixed)
  }
}

extension Thing {
  fileprivate static func numbered(_ number: Int) -> Thing {
    Thing(id: "thing-\(number)", name: String(repeating: "name \(number) ", count: 6), code: "code-\(number)")
  }
}

/// The same columns, never captured.
private struct LocalThing: Model {
  static let schema = Schema<Self>("thing", sync: .local) {
    Column("name", \.name)
    Column("code", \.code).unique()
    Column("count", \.count)
    Column("tags", \.tags)
    Column("best", \.best)
    Column("parent", \.parent)
  }
  var id = ""
  var name = ""
  var code: String?
  var count = 0
  var tags: Set<String> = []
  var best = 0
  var parent: String?

  init() {}

  init(_ thing: Thing) {
    (id, name, code, count, tags, best, parent) =
      (thing.id, thing.name, thing.code, thing.count, thing.tags, thing.best, thing.parent)
  }
}
