import Foundation
import GodwitBase
import GodwitModel
import GodwitSimulation
import Testing

@testable import Godwit
@testable import GodwitEngine

/// One table, as it was before it travelled and as it is then.
struct LocalPlace: Model {
  static let schema = Schema<Self>("place", sync: .local) {
    Column("name", \.name)
    Column("code", \.code).unique()
    Column("visits", \.visits, merge: .counter)
  }
  var id = ""
  var name = ""
  var code: String?
  var visits = 0
}

struct SyncedPlace: Model {
  static let schema = Schema<Self>("place") {
    Column("name", \.name)
    Column("code", \.code).unique()
    Column("visits", \.visits, merge: .counter)
  }
  var id = ""
  var name = ""
  var code: String?
  var visits = 0
}

struct WallShelf: Model {
  static let schema = Schema<Self>("shelf") { Column("label", \.label) }
  var id = ""
  var label = ""
}

struct BusStop: Model {
  static let schema = Schema<Self>("stop", sync: .local) { Column("place", \.place).references(LocalPlace.self) }
  var id = ""
  var place: String?
}

@Suite("Starting and stopping a table's sync")
struct TableSyncTests {
  let folder: TemporaryFolder
  let clock = TestClock()

  init() throws { folder = try TemporaryFolder() }

  func open(_ number: Int, _ models: [any Model.Type] = [LocalPlace.self]) async throws -> Replica {
    try await Replica.open(
      at: folder.file("replica-\(number)"), models: models,
      configuration: .init(key: .keyring(), logger: .init(label: "test")), wallClock: clock.wallClock)
  }

  func pair(_ models: [any Model.Type] = [LocalPlace.self]) async throws -> (Replica, Replica) {
    let first = try await open(0, models)
    let identity = try await Replica.identity(at: folder.file("replica-1"))
    try await first.members.invite(
      identity, name: "second", verification: .trustOnFirstUse, to: .file(folder.file("invitation")))
    let joined = try await Replica.join(
      at: folder.file("replica-1"), invitation: .file(folder.file("invitation")), inviter: .trustOnFirstUse)
    await joined.close()
    return (first, try await open(1, models))
  }

  @discardableResult
  func carry(_ sender: Replica, _ receiver: Replica) async throws -> MergeReport {
    let path = folder.file(UUID().uuidString)
    _ = try await sender.export(to: .file(path))
    return try await receiver.import(from: .file(path))
  }

  func rows(_ replica: Replica) async throws -> [[Value]] {
    try await replica.rows("SELECT id, name, code, visits FROM place ORDER BY id").map(\.values)
  }

  @Test("the rows of a table that starts become its first transactions, and later ones are logged")
  func starts() async throws {
    var (first, second) = try await pair()
    try await first.write { tx in
      for number in 0..<12_000 {
        try tx.insert(LocalPlace(id: "\(number)", name: "n\(number)", code: "c\(number)", visits: number))
      }
    }
    #expect(try await first.history.log().isEmpty)
    #expect(try await first.tables.startSync(of: "place") == 12_000)
    #expect(try await first.history.log().map { $0.changes.map(\.inserted).reduce(0, +) } == [2_000, 5_000, 5_000])
    await second.close()
    second = try await open(1, [])
    try await second.tables.startSync(of: "place")
    #expect(try await carry(first, second).applied.transactions == 3)
    #expect(try await rows(second) == rows(first))

    await first.close()
    await second.close()
    (first, second) = (try await open(0, [SyncedPlace.self]), try await open(1, [SyncedPlace.self]))
    clock.advance(1)
    try await second.write { _ = try $0.execute("UPDATE place SET name = 'new', visits = visits + 1 WHERE id = '7'") }
    try await first.write { _ = try $0.execute("UPDATE place SET visits = visits + 10 WHERE id = '7'") }
    try await carry(second, first)
    try await carry(first, second)
    #expect(try await first.maintenance.digest() == second.maintenance.digest())
    let place = try await first.fetch(SyncedPlace.self, key: "7")
    #expect(place?.name == "new" && place?.visits == 18)
    for replica in [first, second] { #expect(try await replica.maintenance.verify().problems == []) }
  }

  @Test("a table with the other scope is an error that says what to do")
  func mismatch() async throws {
    let replica = try await open(0)
    await replica.close()
    let error = await #expect(throws: GodwitError.self) { _ = try await open(0, [SyncedPlace.self]) }
    #expect(error?.code == .schemaMismatch)
    #expect(error?.hint?.contains("start-sync place") == true)
  }

  @Test(
    "rows of two replicas that start unseen are as old as each says; the younger ones stay, the others are conflicts")
  func startsTwice() async throws {
    let (first, second) = try await pair()
    try await first.write { try $0.insert(LocalPlace(id: "a", name: "stale", visits: 3)) }
    try await second.write { try $0.insert(LocalPlace(id: "a", name: "fresh", visits: 4)) }
    // The one that starts later has the older rows.
    try await second.tables.startSync(of: "place", asOf: Date(timeIntervalSince1970: 2_000))
    clock.advance(1_000)
    try await first.tables.startSync(of: "place", asOf: Date(timeIntervalSince1970: 1_000))
    try await carry(first, second)
    try await carry(second, first)
    #expect(try await first.maintenance.digest() == second.maintenance.digest())
    #expect(try await rows(first).map { $0[1] } == [.text("fresh")])
    #expect(try await second.conflicts.list().contains { $0.losingValues == [.text("stale")] })
  }

  @Test("where the group has the table, its rows stay, and rows that were other here are kept as conflicts")
  func startsLate() async throws {
    let (first, second) = try await pair()
    try await first.write { tx in
      try tx.insert(LocalPlace(id: "a", name: "fresh", code: "x"))
      try tx.insert(LocalPlace(id: "b", name: "same"))
    }
    try await second.write { tx in
      try tx.insert(LocalPlace(id: "a", name: "stale"))
      try tx.insert(LocalPlace(id: "b", name: "same"))
      try tx.insert(LocalPlace(id: "c", name: "claims too", code: "x"))
      try tx.insert(LocalPlace(id: "d", name: "only here"))
    }
    try await first.tables.startSync(of: "place")
    clock.advance(1)
    try await first.write { _ = try $0.execute("UPDATE place SET name = 'fresher' WHERE id = 'a'") }
    #expect(try await carry(first, second).waiting.transactions > 0)
    #expect(try await rows(second).count == 4)

    #expect(try await second.tables.startSync(of: "place") == 4)
    #expect(try await second.status().staged == 0)
    #expect(
      try await rows(second).map { [$0[0], $0[1]] }
        == [[.text("a"), .text("fresher")], [.text("b"), .text("same")], [.text("d"), .text("only here")]])
    let lost = try await second.conflicts.list()
    #expect(lost.contains { $0.key == [.text("a")] && $0.losingValues == [.text("stale")] })
    #expect(lost.contains { $0.key == [.text("c")] && $0.losingValues == [.text("claims too")] })
    try await carry(second, first)
    #expect(try await first.maintenance.digest() == second.maintenance.digest())
    for replica in [first, second] { #expect(try await replica.maintenance.verify().problems == []) }
  }

  @Test("own timestamps still rise after rows with old ones")
  func clockGoesOn() async throws {
    let replica = try await open(0, [LocalPlace.self, BusStop.self])
    try await replica.write { try $0.insert(LocalPlace(id: "a")) }
    try await replica.tables.startSync(of: "place")
    try await replica.write { _ = try $0.execute("UPDATE place SET name = 'later'") }
    let before = try await replica.standing().latest
    try await replica.tables.stopSync(of: "place")
    try await replica.tables.startSync(of: "place")
    clock.advance(-60_000)
    await replica.close()
    let again = try await open(0, [])
    try await again.write { _ = try $0.execute("UPDATE place SET name = 'latest'") }
    #expect(try await again.standing().latest > before)
  }

  @Test("a table that stops keeps its rows, logs nothing, and what others write waits until it starts again")
  func stops() async throws {
    let (first, second) = try await pair([SyncedPlace.self])
    try await first.write { try $0.insert(SyncedPlace(id: "a", name: "one")) }
    try await carry(first, second)
    try await second.tables.stopSync(of: "place")
    let count = try await second.history.log().count
    try await second.write { _ = try $0.execute("UPDATE place SET name = 'mine'") }
    #expect(try await second.history.log().count == count)
    try await first.write { try $0.insert(SyncedPlace(id: "b", name: "two")) }
    #expect(try await carry(first, second).waiting.transactions == 1)
    #expect(try await rows(second).count == 1)

    try await second.tables.startSync(of: "place")
    #expect(try await rows(second).map { $0[0] } == [.text("a"), .text("b")])
    clock.advance(1)
    try await carry(second, first)
    try await carry(first, second)
    #expect(try await first.maintenance.digest() == second.maintenance.digest())
    #expect(try await rows(first)[0][1] == .text("mine"))
    for replica in [first, second] { #expect(try await replica.maintenance.verify().problems == []) }
  }

  /// Two replicas with rows that both know; the second has stopped, so each changes them for itself from then on.
  func parted(_ ids: String...) async throws -> (Replica, Replica) {
    let (first, second) = try await pair([SyncedPlace.self])
    try await first.write { tx in for id in ids { try tx.insert(SyncedPlace(id: id, name: "one", code: id, visits: 1)) }
    }
    try await carry(first, second)
    try await carry(second, first)
    try await second.tables.stopSync(of: "place")
    return (first, second)
  }

  func together(_ first: Replica, _ second: Replica) async throws -> [[Value]] {
    clock.advance(1)
    for _ in 0..<2 {
      try await carry(second, first)
      try await carry(first, second)
    }
    #expect(try await first.maintenance.digest() == second.maintenance.digest())
    for replica in [first, second] { #expect(try await replica.maintenance.verify().problems == []) }
    #expect(try await second.status().staged == 0)
    return try await rows(first)
  }

  @Test("what others do to the rows of a stopped table waits, and comes on top of what both had when it starts again")
  func startsAgain() async throws {
    let (first, second) = try await parted("a", "b", "c", "d")
    try await first.write { tx in
      _ = try tx.execute("UPDATE place SET name = 'two', visits = visits + 1 WHERE id IN ('a', 'b')")
      _ = try tx.execute("DELETE FROM place WHERE id = 'c'")
    }
    #expect(try await carry(first, second).waiting.transactions == 1)
    try await first.write { _ = try $0.execute("UPDATE place SET code = 'A' WHERE id = 'a'") }
    #expect(try await carry(first, second).waiting.transactions == 2)
    try await second.tables.startSync(of: "place")
    let expected: [[Value]] = [["a", "two", "A", 2], ["b", "two", "b", 2], ["d", "one", "d", 1]]
    #expect(try await rows(second) == expected)
    #expect(try await second.conflicts.list().isEmpty)
    #expect(try await together(first, second) == expected)
  }

  @Test("what was changed here alone while it was stopped travels then, and what others have changed too is a conflict")
  func startsWithChanges() async throws {
    let (first, second) = try await parted("a", "b", "c", "d", "e")
    try await second.write { tx in
      _ = try tx.execute("UPDATE place SET name = 'mine', visits = visits + 10 WHERE id IN ('a', 'b', 'c')")
      _ = try tx.execute("DELETE FROM place WHERE id IN ('d', 'e')")
      _ = try tx.execute("INSERT INTO place VALUES ('new', 'mine', 'x', 0), ('both', 'mine', 'y', 0)")
    }
    try await first.write { tx in
      _ = try tx.execute("UPDATE place SET name = 'theirs', visits = visits + 1 WHERE id IN ('b', 'e')")
      _ = try tx.execute("DELETE FROM place WHERE id = 'c'")
      _ = try tx.execute("INSERT INTO place VALUES ('both', 'theirs', 'z', 0)")
    }
    #expect(try await carry(first, second).waiting.transactions == 1)
    let before = clock.wallClock.milliseconds()
    try await second.tables.startSync(of: "place")
    let expected: [[Value]] = [
      ["a", "mine", "a", 11], ["b", "theirs", "b", 12], ["both", "theirs", "z", 0], ["e", "theirs", "e", 2],
      ["new", "mine", "x", 0],
    ]
    #expect(try await rows(second).sorted { "\($0[0])" < "\($1[0])" } == expected)
    let conflicts = try await second.conflicts.list()
    func lost(_ key: Value, _ column: String?) -> [Conflict] {
      conflicts.filter { $0.key == [key] && $0.column == column }
    }
    #expect(lost("b", "name").map(\.losingValue) == ["mine"] && lost("b", "name").map(\.winningValue) == ["theirs"])
    #expect(lost("c", "name").map(\.losingValue) == ["mine"] && lost("c", "visits").map(\.losingValue) == [11])
    #expect(lost("both", "name").map(\.losingValue) == ["mine"] && lost("both", "code").map(\.losingValue) == ["y"])
    #expect(lost("e", nil).map(\.kind) == [.delete])
    #expect(conflicts.count == 6)
    // By whom and when, as any other, so that the young are not taken for old.
    #expect(conflicts.allSatisfy { $0.loser?.replica == second.identity.replica && $0.loser?.sequence == 0 })
    #expect(conflicts.allSatisfy { $0.loser?.milliseconds == before })
    #expect(try await second.conflicts.prune(before: Date(milliseconds: before)) == 0)
    #expect(try await together(first, second).sorted { "\($0[0])" < "\($1[0])" } == expected)
    let name = try #require(lost("b", "name").first)
    #expect(try await second.conflicts.restore(name.id))
    #expect(try await together(first, second).first { $0[0] == "b" }?[1] == "mine")
  }

  @Test("it can stop and start many times, and what it was is dropped")
  func startsManyTimes() async throws {
    let (first, second) = try await parted("a")
    for round in 1...3 {
      try await second.write { _ = try $0.execute("UPDATE place SET visits = visits + 10, name = \("mine \(round)")") }
      try await first.write { _ = try $0.execute("UPDATE place SET visits = visits + 1, name = \("round \(round)")") }
      try await carry(first, second)
      try await second.tables.startSync(of: "place")
      #expect(
        try await together(first, second) == [["a", .text("round \(round)"), "a", .integer(Int64(1 + 11 * round))]])
      let names = try await second.rows("SELECT name FROM sqlite_master WHERE name LIKE 'godwit_former%'").map(\.values)
      #expect(names.isEmpty)
      #expect(Set(try await second.conflicts.list().map(\.losingValue)) == Set((1...round).map { .text("mine \($0)") }))
      if round < 3 { try await second.tables.stopSync(of: "place") }
    }
  }

  @Test("a table that was synced is not dropped, since changes of it come all the same")
  func notDropped() async throws {
    let (first, second) = try await parted("a")
    let error = await error { try await second.write { try $0.drop(SyncedPlace.self) } }
    #expect(error?.code == .notAuthorized && error?.hint?.contains("delete its rows") == true)
    try await second.write { _ = try $0.execute("DELETE FROM place") }
    try await first.write { _ = try $0.execute("UPDATE place SET name = 'on'") }
    #expect(try await carry(first, second).waiting.transactions == 1)
    #expect(try await rows(second).isEmpty)
  }

  @Test("what cannot start or stop says why, and changes nothing")
  func refused() async throws {
    let replica = try await open(0, [LocalPlace.self, BusStop.self])
    try await replica.write { tx in
      try tx.insert(LocalPlace(id: "a"))
      try tx.insert(BusStop(id: "s", place: "a"))
    }
    func code(_ body: () async throws -> Void) async -> GodwitError.Code? {
      do { try await body() } catch { return (error as? GodwitError)?.code }
      return nil
    }
    #expect(await code { try await replica.tables.startSync(of: "stop") } == .invalidSchema)
    #expect(await code { try await replica.tables.startSync(of: "nothing") } == .notInSchema)
    #expect(await code { try await replica.tables.stopSync(of: "place") } == .invalidArgument)
    let future = Date(timeIntervalSince1970: 1e11)
    #expect(await code { try await replica.tables.startSync(of: "place", asOf: future) } == .invalidArgument)
    let never = Date(timeIntervalSince1970: .nan)
    #expect(await code { try await replica.tables.startSync(of: "place", asOf: never) } == .invalidArgument)
    #expect(try await replica.history.log().isEmpty)
    try await replica.tables.startSync(of: "place")
    try await replica.tables.startSync(of: "stop")
    #expect(await code { try await replica.tables.stopSync(of: "place") } == .invalidSchema)
    #expect(await code { try await replica.tables.startSync(of: "place") } == .invalidArgument)
    #expect(try await replica.history.log().count == 2)
  }
}
