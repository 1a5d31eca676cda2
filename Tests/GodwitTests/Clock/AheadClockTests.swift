import Foundation
import Godwit
import Testing

/// Three replicas, each with a clock of its own.
struct SkewedGroup {
  let group: TestGroup
  private(set) var replicas: [Replica] = []
  let clocks = [TestClock(), TestClock(), TestClock()]

  init() async throws {
    group = try await TestGroup(3)
    for index in 0..<3 {
      await group[index].close()
      replicas.append(try await TestGroup.open(group.folder.file("replica-\(index)"), clocks[index]))
    }
  }

  subscript(index: Int) -> Replica { replicas[index] }

  mutating func reopen(_ index: Int) async throws {
    await replicas[index].close()
    replicas[index] = try await TestGroup.open(group.folder.file("replica-\(index)"), clocks[index])
  }

  @discardableResult
  func send(_ sender: Int, _ receiver: Int) async throws -> MergeReport {
    try await carry(from: replicas[sender], to: replicas[receiver], in: group.folder)
  }

  func setTitle(_ title: String, on index: Int) async throws {
    try await replicas[index].write { _ = try $0.execute("UPDATE note SET title = \(title)") }
  }

  func titles() async throws -> [String] {
    var titles: [String] = []
    for replica in replicas { titles.append(contentsOf: try await replica.fetch(Note.all).map(\.title)) }
    return titles
  }

  /// How far the clock of the replica's latest own transaction is beyond its wall clock, in milliseconds.
  func lead(_ index: Int) async throws -> Int64? {
    let own = replicas[index].identity.replica
    let entries = try await replicas[index].history.log(limit: 100).filter { $0.replica == own }
    return entries.max { $0.sequence < $1.sequence }.map { $0.milliseconds - clocks[index].wallClock.milliseconds() }
  }

  func remembered(_ index: Int) async throws -> [Row] {
    try await replicas[index].rows("SELECT hlc FROM godwit_ahead")
  }
}

/// Carries what the receiver may lack, through a file.
@discardableResult
func carry(from sender: Replica, to receiver: Replica, in folder: TemporaryFolder, all: Bool = false) async throws
  -> MergeReport
{
  let path = folder.file("\(UUID().uuidString).godwit-sync")
  _ = try await sender.export(to: .file(path), includesAll: all)
  return try await receiver.import(from: .file(path))
}

@Suite("Clocks that are wrong")
struct AheadClockTests {
  private static let hour: Int64 = 3_600_000
  private static let year: Int64 = 365 * 24 * hour

  /// A note that all have, which the first replica edited with a clock a year ahead that was then corrected.
  private func afterFutureEdit() async throws -> SkewedGroup {
    var group = try await SkewedGroup()
    try await group[0].write { try $0.insert(Note()) }
    try await group.send(0, 1)
    try await group.send(1, 2)
    group.clocks[0].advance(Self.year)
    try await group.setTitle("future", on: 0)
    group.clocks[0].advance(-Self.year)
    try await group.reopen(0)
    // By relay: the third replica never sees a file of the first.
    #expect(try await group.send(0, 1).applied.transactions == 1)
    #expect(try await group.send(1, 2).applied.transactions == 1)
    return group
  }

  @Test("one year ahead writes once, then is corrected: the next edit by anyone wins everywhere", arguments: 0..<3)
  func nextEditWins(editor: Int) async throws {
    var group = try await afterFutureEdit()
    #expect(try await group.titles() == ["future", "future", "future"])

    try await group.reopen(editor)
    try await group.setTitle("next", on: editor)
    let (second, third) = ((editor + 1) % 3, (editor + 2) % 3)
    try await group.send(editor, second)
    try await group.send(second, third)
    #expect(try await group.titles() == ["next", "next", "next"])

    // The edit has a timestamp a year ahead in turn.
    try await group.reopen(third)
    try await group.setTitle("after that", on: third)
    try await group.send(third, second)
    try await group.send(second, editor)
    #expect(try await group.titles() == ["after that", "after that", "after that"])
    for replica in group.replicas { #expect(try await replica.conflicts.list().isEmpty) }
  }

  @Test("others' clocks stay near their own time, and so does the corrected one")
  func clocksStay() async throws {
    let group = try await afterFutureEdit()
    for index in 0..<3 {
      try await group[index].write { try $0.insert(Note()) }
      let lead = try #require(try await group.lead(index))
      #expect(abs(lead) <= Self.hour)
    }
  }

  @Test("what is written along with a row from the future can be edited by all as well")
  func writtenAlong() async throws {
    let group = try await afterFutureEdit()
    var other = Note()
    other.title = "along"
    let along = other
    try await group[1].write { transaction in
      try transaction.insert(along)
      _ = try transaction.execute("UPDATE note SET views = 1")
    }
    try await group.send(1, 2)
    try await group[2].write { _ = try $0.execute("UPDATE note SET title = 'edited' WHERE id = \(along.id)") }
    try await group.send(2, 1)
    #expect(try await group[1].fetch(Note.self, key: along.id)?.title == "edited")
  }

  @Test("a delete of a row from the future removes it, and a new insert of its key wins")
  func deleteAndInsert() async throws {
    let group = try await afterFutureEdit()
    let stored = try #require(try await group[2].fetch(Note.all).first)
    try await group[2].write { _ = try $0.delete(stored) }
    try await group.send(2, 1)
    #expect(try await group[1].count(Note.all) == 0)
    var again = stored
    again.title = "again"
    let new = again
    try await group[1].write { try $0.insert(new) }
    try await group.send(1, 0)
    try await group.send(1, 2)
    #expect(try await group.titles() == ["again", "again", "again"])
  }

  @Test("what is remembered is forgotten once the time has come")
  func forgotten() async throws {
    let group = try await afterFutureEdit()
    for index in 0..<3 {
      try await group[index].write { try $0.insert(Note()) }
      #expect(try await group.remembered(index).count == 1)
      group.clocks[index].advance(Self.year + 1)
      try await group[index].write { try $0.insert(Note()) }
      #expect(try await group.remembered(index).isEmpty)
    }
    try await group[2].write { _ = try $0.execute("UPDATE note SET title = 'in time' WHERE title = 'future'") }
    try await group.send(2, 1)
    #expect(try await group[1].fetch(Note.all).contains { $0.title == "in time" })
  }

  @Test("a transaction that is rolled back leaves clock and memory as they were")
  func rolledBack() async throws {
    let group = try await afterFutureEdit()
    for _ in 0..<2 {
      await #expect(throws: CancellationError.self) {
        try await group[1].write { transaction in
          _ = try transaction.execute("UPDATE note SET title = 'never'")
          throw CancellationError()
        }
      }
    }
    try await group.setTitle("still wins", on: 1)
    try await group.send(1, 0)
    #expect(try await group[0].fetch(Note.all).map(\.title) == ["still wins"])
  }

  @Test("a clock that jumps back, also across a restart, still writes what wins", arguments: [1, 90, 60 * 24 * 400])
  func jumpsBack(minutes: Int) async throws {
    var group = try await SkewedGroup()
    try await group[0].write { try $0.insert(Note()) }
    for round in 1...3 {
      try await group.setTitle("round \(round)", on: 0)
      try await group.send(0, 1)
      group.clocks[0].advance(-Int64(minutes) * 60_000)
      if round > 1 { try await group.reopen(0) }
    }
    try await group.setTitle("last", on: 0)
    try await group.send(0, 1)
    #expect(try await group[1].fetch(Note.all).map(\.title) == ["last"])
    #expect(try await group[0].maintenance.digest() == group[1].maintenance.digest())
    try await group[1].write { try $0.insert(Note()) }
    let lead = try #require(try await group.lead(1))
    #expect(lead <= Self.hour)
  }

  @Test("a clock beyond the end of time refuses to write, and writes again once it is set")
  func endOfTime() async throws {
    let group = try await SkewedGroup()
    group.clocks[0].advance(3_000 * Self.year)
    #expect(await code { try await group[0].write { try $0.insert(Note()) } } == .limitExceeded)
    group.clocks[0].advance(-3_000 * Self.year)
    try await group[0].write { try $0.insert(Note()) }
    #expect(try await group.send(0, 1).applied.transactions == 1)
  }

  @Test("what is written in the last millisecond of time is accepted, and can be edited")
  func lastMillisecond() async throws {
    let group = try await SkewedGroup()
    let now = group.clocks[0].wallClock.milliseconds()
    group.clocks[0].advance((1 << 46) - 1 - now)
    try await group[0].write { try $0.insert(Note()) }
    #expect(try await group.send(0, 1).applied.transactions == 1)
    try await group.setTitle("edited", on: 1)
    try await group.send(1, 2)
    try await group.send(1, 0)
    #expect(try await group.titles() == ["edited", "edited", "edited"])
    try await group[1].write { try $0.insert(Note()) }
    #expect(try #require(try await group.lead(1)) <= Self.hour)
  }

  @Test("a file puts causes before effects, whatever their timestamps")
  func causesFirst() async throws {
    let group = try await afterFutureEdit()
    for index in [1, 2, 1, 2] {
      try await group[index].write { _ = try $0.execute("UPDATE note SET views = views + 1") }
      try await group.send(index, 3 - index)
    }
    let newcomer = group.group.folder.file("newcomer")
    let identity = try await Replica.identity(at: newcomer)
    let invitation = group.group.folder.file("newcomer.invitation")
    try await group[1].members.invite(identity, name: "newcomer", verification: .trustOnFirstUse, to: .file(invitation))
    await (try Replica.join(at: newcomer, invitation: .file(invitation), inviter: .trustOnFirstUse)).close()
    let replica = try await TestGroup.open(newcomer)
    let report = try await carry(from: group[1], to: replica, in: group.group.folder, all: true)
    #expect(
      report.applied.transactions == 6 && report.waiting.transactions == 0 && report.waiting.missing.isEmpty
        && report.attention.conflicts == 0)
    #expect(try await replica.maintenance.digest() == group[1].maintenance.digest())
  }
}
