import Foundation
import GodwitModel
import Testing

@testable import Godwit
@testable import GodwitEngine

/// Starting and stopping by calls, by migrations, and state files in between.
extension TableSyncTests {
  @Test("what was stopped by a call is started by one, also after migrations that came since")
  func startsAfterMigrations() async throws {
    var (first, second) = try await parted("a", "b")
    await first.close()
    await second.close()
    let versions = [
      Migration(1, "shelves") { $0.create(WallShelf.self) },
      Migration(2, "height") { $0.alter("place") { $0.add("height", Int?.self) } },
    ]
    func open(_ number: Int) async throws -> Replica {
      try await Replica.open(
        at: folder.file("replica-\(number)"), models: [],
        configuration: .init(key: .keyring(), migrations: Migrations(versions), logger: .init(label: "test")),
        wallClock: clock.wallClock)
    }
    (first, second) = (try await open(0), try await open(1))
    try await first.write { _ = try $0.execute("UPDATE place SET name = 'two', height = 5 WHERE id = 'a'") }
    try await second.write { _ = try $0.execute("UPDATE place SET name = 'mine' WHERE id = 'b'") }
    #expect(try await carry(first, second).waiting.transactions == 1)
    try await second.tables.startSync(of: "place")
    _ = try await together(first, second)
    #expect(try await rows(second).map { [$0[0], $0[1]] } == [["a", "two"], ["b", "mine"]])
    #expect(await code { try await second.tables.stopSync(of: "place") } == .invalidArgument)
  }

  @Test("a migration that would change what was stopped by a call is refused, until it is started")
  func changedWhileStopped() async throws {
    let (first, second) = try await parted("a", "b")
    await first.close()
    await second.close()
    let versions = [Migration(1, "title") { $0.alter("place") { $0.rename("name", to: "title") } }]
    func open(_ migrations: Migrations) async throws -> Replica {
      try await Replica.open(
        at: folder.file("replica-1"), models: [],
        configuration: .init(key: .keyring(), migrations: migrations, logger: .init(label: "test")),
        wallClock: clock.wallClock)
    }
    let refused = await failure { try await open(Migrations(versions)) }
    #expect(refused?.code == .invalidMigration)
    #expect(refused?.hint?.contains("godwit table start-sync place") == true)
    let before = try await open(.none)
    try await before.tables.startSync(of: "place")
    await before.close()
    let after = try await open(Migrations(versions))
    #expect(try await after.rows("SELECT id, title FROM place ORDER BY id").count == 2)
    await after.close()
  }

  @Test("a state file with rows of a table that stays here is refused, until it is started")
  func stateFileOfStopped() async throws {
    let (first, second) = try await parted("a", "b")
    try await first.members.remove("second")
    try await first.write { _ = try $0.execute("UPDATE place SET name = 'two' WHERE id = 'a'") }
    try await first.maintenance.compact()
    try await first.members.invite(
      second.identity, name: "second", verification: .trustOnFirstUse, to: .file(folder.file("again")))
    let stateFile = folder.file("stateFile")
    _ = try await first.exportState(to: .file(stateFile))
    let refused = await failure { try await second.rejoin(from: .file(stateFile)) }
    #expect(refused?.code == .needsMigration, "\(String(describing: refused))")
    #expect(refused?.hint?.contains("godwit table start-sync place") == true)
    try await second.tables.startSync(of: "place")
    _ = try await second.rejoin(from: .file(stateFile))
    #expect(try await rows(second).map { [$0[0], $0[1]] } == [["a", "two"], ["b", "one"]])
    _ = try await together(first, second)
  }

  @Test("a migration starts and stops it on every replica")
  func migrates() async throws {
    let versions = [
      Migration(1, "places") { $0.create(LocalPlace.self) }, Migration(2, "together") { $0.startSync(of: "place") },
      Migration(3, "apart") { $0.stopSync(of: "place") },
    ]
    func open(_ number: Int, _ count: Int) async throws -> Replica {
      try await Replica.open(
        at: folder.file("replica-\(number)"), models: [],
        configuration: .init(
          key: .keyring(), migrations: Migrations(Array(versions.prefix(count))), logger: .init(label: "test")),
        wallClock: clock.wallClock)
    }
    var (first, second) = try await pair([])
    await first.close()
    await second.close()
    (first, second) = (try await open(0, 1), try await open(1, 1))
    try await first.write { _ = try $0.execute("INSERT INTO place (id, name) VALUES ('a', 'first')") }
    try await second.write { _ = try $0.execute("INSERT INTO place (id, name) VALUES ('a', 'second'), ('b', 'b')") }
    await first.close()
    first = try await open(0, 2)
    #expect(try await carry(first, second).waiting.transactions == 1)
    await second.close()
    second = try await open(1, 2)
    #expect(try await rows(second).map { $0[1] } == [.text("first"), .text("b")])
    try await carry(second, first)
    #expect(try await first.maintenance.digest() == second.maintenance.digest())

    try await first.write { _ = try $0.execute("UPDATE place SET name = 'seen by none'") }
    await second.close()
    second = try await open(1, 3)
    #expect(try await carry(first, second).waiting.transactions == 0)
    #expect(try await rows(second).map { $0[1] } == [.text("first"), .text("b")])
    #expect(try await second.maintenance.verify().problems == [])
  }
}
