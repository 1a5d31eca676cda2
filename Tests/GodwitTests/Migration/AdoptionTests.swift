import Foundation
import Godwit
import GodwitCore
import Testing

@testable import Godwit
@testable import GodwitEngine

/// A row of `note` as a program of version 1 knows it.
private struct OldNote: Model {
  static let schema = Schema<Self>("note") { Column("title", \.title) }
  var id = 0
  var title = ""
}

@Suite("Additions and barriers")
struct AdoptionTests {
  @Migrations.Builder private static func notes() -> [Migration] {
    Migration(1, "notes") {
      $0.create("note") {
        $0.column("id", Int.self)
        $0.column("title", String.self, default: "")
      }
    }
    Migration.addition(2, "stars") {
      $0.alter("note") { $0.add("stars", Int.self, default: 3) }
      $0.create("tag") {
        $0.column("id", Int.self)
        $0.column("word", String.self, default: "")
      }
    }
    Migration.addition(3, "colors") {
      $0.alter("tag") { $0.add("color", String?.self) }
      $0.alter("note") { $0.addIndex("title") }
    }
    Migration(4, "names") { $0.alter("note") { $0.rename("title", to: "name") } }
    Migration.addition(5, "more") { $0.alter("note") { $0.add("size", Int.self, default: 1) } }
  }

  @Test("a program two additions behind reads and writes, and migrates later without noticing")
  func behind() async throws {
    let group = try await MigrationGroup([1, 3], Self.notes)
    try await group.write(0, "INSERT INTO note VALUES (1, 'One')")
    try await group.exchange()
    try await group.write(1, "UPDATE note SET stars = 5", "INSERT INTO tag VALUES (7, 'red', 'dark')")
    #expect(try await group.send(1, to: 0).waiting.transactions == 0)
    #expect(try await group[0].status().schemaVersion == 3)
    #expect(try await group.rows(0, "SELECT title, stars FROM note") == [["One", 5]])

    try await group.write(0, "INSERT INTO note (id, title) VALUES (2, 'Two')")
    #expect(try await group[0].history.log(limit: 1).first?.changes.map(\.inserted) == [1])
    for version in [1, 2, 3] { try await group.update(0, to: version) }
    #expect(try await group[0].migrations.status().migrations.allSatisfy { $0.appliedAt != nil || $0.version > 3 })
    try await group.exchange()
    #expect(try await group.rows(1, "SELECT title, stars FROM note ORDER BY id") == [["One", 5], ["Two", 3]])
    try await group.expectSame()
  }

  @Test("a program two additions behind observes its models, before and after they have come", .timeLimit(.minutes(1)))
  func observing() async throws {
    let group = try await MigrationGroup([1, 3], Self.notes)
    var titles = group[0].observe(OldNote.order(by: \.id)).makeAsyncIterator()
    #expect(try await titles.next()?.map(\.title) == [])
    try await group.write(1, "INSERT INTO note VALUES (1, 'One', 5)", "INSERT INTO tag VALUES (7, 'red', 'dark')")
    try await group.send(1, to: 0)
    #expect(try await titles.next()?.map(\.title) == ["One"])
    group.clock.advance(10)
    try await group[0].write { try $0.insert(OldNote(id: 2, title: "Two")) }
    #expect(try await titles.next()?.map(\.title) == ["One", "Two"])
    try await group.exchange()
    #expect(try await group.rows(1, "SELECT title, stars FROM note ORDER BY id") == [["One", 5], ["Two", 3]])
    try await group.write(1, "UPDATE note SET stars = 1, title = 'Uno' WHERE id = 1")
    try await group.send(1, to: 0)
    #expect(try await titles.next()?.map(\.title) == ["Uno", "Two"])
    try await group.expectSame()
  }

  @Test("a raw query shows a column that came after its statement was compiled, at once")
  func rawQuery() async throws {
    let group = try await MigrationGroup([1, 2], Self.notes)
    try await group.write(0, "INSERT INTO note VALUES (1, 'One')")
    let all: SQL = "SELECT * FROM note"
    #expect(try await group[0].rows(all).map(\.values) == [[1, "One"]])
    try await group.send(1, to: 0)
    let rows = try await group[0].rows(all)
    #expect(rows.map(\.values) == [[1, "One", 3]] && rows.first?.columns == ["id", "title", "stars"])
  }

  @Test("additions behind a barrier wait with it, and come with the update")
  func behindBarrier() async throws {
    let group = try await MigrationGroup([1, 5], Self.notes)
    try await group.write(1, "INSERT INTO note (id, name, size) VALUES (1, 'One', 9)")
    let report = try await group.send(1, to: 0)
    #expect(report.applied.transactions == 0 && report.waiting.held?.version == 5)
    let status = try await group[0].migrations.status()
    #expect(status.version == 3 && status.migrations.map(\.isAddition) == [true, true, true, false, true])
    let plan = try await group[0].migrations.plan(group.migrations(5))
    #expect(plan.versions.map(\.version) == [4, 5] && plan.versions.map(\.isAddition) == [false, true])
    #expect(plan.versions.map(\.released) == [0, 1])
    try await group.update(0, to: 5)
    #expect(try await group.rows(0, "SELECT name, size FROM note") == [["One", 9]])
    try await group.expectSame()
  }

  @Test("additions of others behind a barrier run when the program runs that, and what waited for them is applied")
  func behindOwnBarrier() async throws {
    let group = try await MigrationGroup([1, 5], Self.notes)
    try await group.write(1, "INSERT INTO note (id, name, size) VALUES (1, 'One', 9)")
    #expect(try await group.send(1, to: 0).waiting.held?.version == 5)
    try await group.update(0, to: 4)
    #expect(try await group[0].status().schemaVersion == 5)
    #expect(try await group.rows(0, "SELECT name, size FROM note") == [["One", 9]])
    try await group.expectSame()
  }

  @Test("a column that a function of the program merges is no addition: who lacks the function cannot merge it")
  func custom() throws {
    let longest = ColumnMerge<String?>.custom("longest") { ($0 ?? "").count < ($1 ?? "").count ? $1 : $0 }
    let migrations = Migrations([
      Migration.addition(1, "best") {
        $0.create("note") {
          $0.column("id", Int.self)
          $0.column("best", String?.self, merge: longest)
        }
      }
    ])
    let failure = #expect(throws: GodwitError.self) { try migrations.schemaMigrations() }
    #expect(failure?.code == .invalidMigration)
  }

  @Test("a program that lacks a barrier is refused by name, and one that lacks additions is not")
  func olderProgram() async throws {
    let group = try await MigrationGroup([4], Self.notes)
    let failure = await error { try await group.update(0, to: 3) }
    #expect(failure?.code == .needsMigration && failure?.message.contains("lacks the barrier 4 \"names\"") == true)
    try await group.update(0, to: 5)
    try await group.update(0, to: 4)
    #expect(try await group[0].status().schemaVersion == 5)
  }

  @Test("an addition that is another one than was adopted is refused, with the difference")
  func changedAddition() async throws {
    let group = try await MigrationGroup([1, 2], Self.notes)
    try await group.send(1, to: 0)
    await group[0].close()
    let other = Migrations([
      group.migrations[0],
      Migration.addition(2, "stars") { $0.alter("note") { $0.add("stars", Int.self, default: 4) } },
    ])
    let failure = await error { try await ReplicaPair.open(group.path(0), [], group.clock, migrations: other) }
    #expect(failure?.code == .migrationMismatch)
    #expect(failure?.message.contains("add column stars integer default 4 to note") == true)
  }

  @Test("what a member is known to have, waiting, is not sent to it again")
  func notSentAgain() async throws {
    let group = try await MigrationGroup([4, 1], Self.notes)
    try await group.write(0, "INSERT INTO note (id, name) VALUES (1, 'One')")
    #expect(try await group.send(0, to: 1).heldCount == 1)
    let file = group.folder.file("file")
    #expect(try await group[0].export(to: .file(file)).transactions == 1)
    try await group.send(1, to: 0)
    #expect(try await group[0].export(to: .file(file)).transactions == 0)
    // It acknowledges nothing.
    #expect(try await group[0].maintenance.compact().transactions == 0)
    try await group.write(0, "UPDATE note SET name = 'Uno'")
    #expect(try await group[0].export(to: .file(file)).transactions == 1)
    #expect(try await group[1].import(from: .file(file)).heldCount == 2)
    try await group.update(1, to: 4)
    try await group.expectSame()
  }

  @Test("what turns out to be unfit once the barrier has run stays, named, and nothing else does")
  func unfit() async throws {
    let group = try await MigrationGroup([4, 1, 4], Self.notes)
    try await group.write(0, "INSERT INTO note (id, name) VALUES (1, 'One')")
    try await group.write(2, "INSERT INTO note (id, name) VALUES (2, 'Two')")
    for sender in [0, 2] { try await group.send(sender, to: 1) }
    let bad = group[0].identity.replica
    try await group[1].withWriter { writer in
      try writer.inTransaction {
        let staged = StagedTransactions(connection: writer.connection)
        let first = try #require(try staged.firsts().first { $0.origin.replica == bad })
        let waiting = try #require(try staged.get(first))
        let record = TransactionRecord(
          dot: first, hlc: waiting.record.hlc, schemaVersion: 4, context: waiting.record.context,
          changes: Array(waiting.record.changes.dropLast()))
        let chain = record.chain(after: try writer.log.origins.head(of: first.origin).chain)
        try staged.remove(through: first)
        try staged.add(StagedTransaction(record: record, context: waiting.context, chain: chain))
      }
    }
    let plan = try await group[1].migrations.run(group.migrations(4))
    let version = try #require(plan.versions.last)
    #expect(
      version.released == 1 && version.unfit.map(\.replica) == [bad] && version.unfit.first?.message?.isEmpty == false)
    #expect(try await group.rows(1, "SELECT name FROM note") == [["Two"]])
    #expect(try await group[1].history.missing().waiting.map(\.setAside) == [1])
    // Its author's own file brings the true one.
    try await group[1].history.dropWaiting(of: bad.description)
    try await group.send(0, to: 1)
    #expect(try await group.rows(1, "SELECT name FROM note ORDER BY id") == [["One"], ["Two"]])
  }

  @Test("what was set aside comes again from its author, which sends only what others lack")
  func sentAgain() async throws {
    let group = try await MigrationGroup([4, 1], Self.notes)
    try await group.exchange()
    try await group.write(0, "INSERT INTO note (id, name) VALUES (1, 'One')")
    #expect(try await group.send(0, to: 1).waiting.transactions == 1)
    // A process died of it.
    let chain = try await group[1].withWriter { writer in
      let staged = StagedTransactions(connection: writer.connection)
      return try #require(try staged.firsts().first.flatMap { try staged.get($0)?.chain.bytes })
    }
    let trial = "\(group.path(1))/trial"
    _ = FileManager.default.createFile(
      atPath: trial, contents: Data(chain), attributes: [.posixPermissions: 0o600])
    #expect(try await group[1].migrations.plan(group.migrations(4)).versions.map(\.released) == [0])
    #expect(FileManager.default.fileExists(atPath: trial))
    try await group.update(1, to: 4)
    #expect(try await group[1].history.missing().waiting.map(\.setAside) == [1])
    for (sender, receiver) in [(1, 0), (0, 1)] {
      group.clock.advance(10)
      let file = group.folder.file("\(sender)")
      _ = try await group[sender].export(to: .file(file))
      _ = try await group[receiver].import(from: .file(file))
    }
    #expect(try await group.rows(1, "SELECT name FROM note") == [["One"]])
    try await group.expectSame()
  }
}
