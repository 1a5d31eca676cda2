import Foundation
import GodwitModel
import Testing

@testable import Godwit

/// One table, as it was before it travelled and as it is then.
private struct LocalPlace: Model {
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

private struct SyncedPlace: Model {
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

private struct BusStop: Model {
  static let schema = Schema<Self>("stop", sync: .local) { Column("place", \.place).references(LocalPlace.self) }
  var id = ""
  var place: String?
}

@Suite("Starting and stopping a table's sync")
struct TableSyncTests {
  let folder: TemporaryFolder
  let clock = TestClock()

  init() throws { folder = try TemporaryFolder() }

  private func open(_ number: Int, _ models: [any Model.Type] = [LocalPlace.self]) async throws -> Replica {
    try await Replica.open(
      at: folder.file("replica-\(number)"), models: models, name: nil, key: .keyring(), logger: .init(label: "test"),
      wallClock: clock.wallClock)
  }

  private func pair(_ models: [any Model.Type] = [LocalPlace.self]) async throws -> (Replica, Replica) {
    let first = try await open(0, models)
    let identity = try await Replica.identity(at: folder.file("replica-1"))
    try await first.invite(
      identity, name: "second", verification: .trustOnFirstUse, to: .file(folder.file("invitation")))
    let joined = try await Replica.join(
      at: folder.file("replica-1"), invitation: .file(folder.file("invitation")), inviter: .trustOnFirstUse)
    await joined.close()
    return (first, try await open(1, models))
  }

  @discardableResult
  private func carry(_ sender: Replica, _ receiver: Replica) async throws -> MergeReport {
    let path = folder.file(UUID().uuidString)
    _ = try await sender.export(to: .file(path))
    return try await receiver.import(from: .file(path))
  }

  private func rows(_ replica: Replica) async throws -> [[Value]] {
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
    #expect(try await first.log().isEmpty)
    #expect(try await first.startSync(of: "place") == 12_000)
    #expect(try await first.log().count == 3)
    await second.close()
    second = try await open(1, [])
    try await second.startSync(of: "place")
    #expect(try await carry(first, second).applied == 3)
    #expect(try await rows(second) == rows(first))

    await first.close()
    await second.close()
    (first, second) = (try await open(0, [SyncedPlace.self]), try await open(1, [SyncedPlace.self]))
    clock.advance(1)
    try await second.write { _ = try $0.execute("UPDATE place SET name = 'new', visits = visits + 1 WHERE id = '7'") }
    try await first.write { _ = try $0.execute("UPDATE place SET visits = visits + 10 WHERE id = '7'") }
    try await carry(second, first)
    try await carry(first, second)
    #expect(try await first.digest() == second.digest())
    let place = try await first.fetch(SyncedPlace.self, key: "7")
    #expect(place?.name == "new" && place?.visits == 18)
    for replica in [first, second] { #expect(try await replica.verify().problems == []) }
  }

  @Test("a table with the other scope is told with what to do")
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
    try await second.startSync(of: "place", asOf: Date(timeIntervalSince1970: 2_000))
    clock.advance(1_000)
    try await first.startSync(of: "place", asOf: Date(timeIntervalSince1970: 1_000))
    try await carry(first, second)
    try await carry(second, first)
    #expect(try await first.digest() == second.digest())
    #expect(try await rows(first).map { $0[1] } == [.text("fresh")])
    #expect(try await second.conflicts().contains { $0.losingValues == [.text("stale")] })
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
    try await first.startSync(of: "place")
    clock.advance(1)
    try await first.write { _ = try $0.execute("UPDATE place SET name = 'fresher' WHERE id = 'a'") }
    #expect(try await carry(first, second).quarantined > 0)
    #expect(try await rows(second).count == 4)

    #expect(try await second.startSync(of: "place") == 4)
    #expect(try await second.status().quarantined == 0)
    #expect(
      try await rows(second).map { [$0[0], $0[1]] }
        == [[.text("a"), .text("fresher")], [.text("b"), .text("same")], [.text("d"), .text("only here")]])
    let lost = try await second.conflicts()
    #expect(lost.contains { $0.key == [.text("a")] && $0.losingValues == [.text("stale")] })
    #expect(lost.contains { $0.key == [.text("c")] && $0.losingValues == [.text("claims too")] })
    try await carry(second, first)
    #expect(try await first.digest() == second.digest())
    for replica in [first, second] { #expect(try await replica.verify().problems == []) }
  }

  @Test("own timestamps go on rising after rows with old ones")
  func clockGoesOn() async throws {
    let replica = try await open(0, [LocalPlace.self, BusStop.self])
    try await replica.write { try $0.insert(LocalPlace(id: "a")) }
    try await replica.startSync(of: "place")
    try await replica.write { _ = try $0.execute("UPDATE place SET name = 'later'") }
    let before = try await replica.standing().latest
    try await replica.stopSync(of: "place")
    try await replica.startSync(of: "place")
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
    try await second.stopSync(of: "place")
    let count = try await second.log().count
    try await second.write { _ = try $0.execute("UPDATE place SET name = 'mine'") }
    #expect(try await second.log().count == count)
    try await first.write { try $0.insert(SyncedPlace(id: "b", name: "two")) }
    #expect(try await carry(first, second).quarantined == 1)
    #expect(try await rows(second).count == 1)

    try await second.startSync(of: "place")
    #expect(try await rows(second).map { $0[0] } == [.text("a"), .text("b")])
    clock.advance(1)
    try await carry(second, first)
    try await carry(first, second)
    #expect(try await first.digest() == second.digest())
    #expect(try await rows(first)[0][1] == .text("mine"))
    for replica in [first, second] { #expect(try await replica.verify().problems == []) }
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
    #expect(await code { try await replica.startSync(of: "stop") } == .invalidSchema)
    #expect(await code { try await replica.startSync(of: "nothing") } == .notInSchema)
    #expect(await code { try await replica.stopSync(of: "place") } == .invalidArgument)
    let future = Date(timeIntervalSince1970: 1e11)
    #expect(await code { try await replica.startSync(of: "place", asOf: future) } == .invalidArgument)
    #expect(try await replica.log().isEmpty)
    try await replica.startSync(of: "place")
    try await replica.startSync(of: "stop")
    #expect(await code { try await replica.stopSync(of: "place") } == .invalidSchema)
    #expect(await code { try await replica.startSync(of: "place") } == .invalidArgument)
    #expect(try await replica.log().count == 2)
  }

  @Test("a migration starts and stops it on every replica")
  func migrates() async throws {
    let versions = [
      Migration(1, "places") { CreateTable(LocalPlace.self) }, Migration(2, "together") { StartSync("place") },
      Migration(3, "apart") { StopSync("place") },
    ]
    func open(_ number: Int, _ count: Int) async throws -> Replica {
      try await Replica.open(
        at: folder.file("replica-\(number)"), models: [], name: nil, key: .keyring(),
        migrations: Migrations(Array(versions.prefix(count))), logger: .init(label: "test"), wallClock: clock.wallClock)
    }
    var (first, second) = try await pair([])
    await first.close()
    await second.close()
    (first, second) = (try await open(0, 1), try await open(1, 1))
    try await first.write { _ = try $0.execute("INSERT INTO place (id, name) VALUES ('a', 'first')") }
    try await second.write { _ = try $0.execute("INSERT INTO place (id, name) VALUES ('a', 'second'), ('b', 'b')") }
    await first.close()
    first = try await open(0, 2)
    #expect(try await carry(first, second).quarantined == 1)
    await second.close()
    second = try await open(1, 2)
    #expect(try await rows(second).map { $0[1] } == [.text("first"), .text("b")])
    try await carry(second, first)
    #expect(try await first.digest() == second.digest())

    try await first.write { _ = try $0.execute("UPDATE place SET name = 'seen by none'") }
    await second.close()
    second = try await open(1, 3)
    #expect(try await carry(first, second).quarantined == 0)
    #expect(try await rows(second).map { $0[1] } == [.text("first"), .text("b")])
    #expect(try await second.verify().problems == [])
  }
}
