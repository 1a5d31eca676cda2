import Foundation
import Godwit
import Testing

@Suite("Specs/golden")
struct GoldenReplicaTests {
  private let folder: TemporaryFolder
  private let path: String
  private let expected: GoldenReplica

  init() throws {
    folder = try TemporaryFolder()
    path = folder.file("replica")
    try GoldenReplica.copy(from: GoldenReplica.replica, to: path)
    expected = try GoldenReplica.expected()
  }

  @Test("a replica of this format version opens, is sound and holds what was recorded", arguments: [true, false])
  func opens(isReadOnly: Bool) async throws {
    let replica = try await GoldenReplica.open(path, isReadOnly: isReadOnly)
    #expect(try await GoldenReplica.State(replica) == expected.before)
    await replica.close()
  }

  @Test("a sync file of this format version is taken in, and a second time changes nothing")
  func takesIn() async throws {
    let replica = try await GoldenReplica.open(path)
    let report = try await replica.import(from: .file(GoldenReplica.syncFile))
    #expect(
      report.applied.transactions > 0 && report.waiting.transactions == 0 && report.waiting.missing.isEmpty
        && report.attention.forks.isEmpty)
    #expect(try await GoldenReplica.State(replica) == expected.after)
    let again = try await replica.import(from: .file(GoldenReplica.syncFile))
    #expect(again.applied.transactions == 0 && again.applied.duplicates > 0)
    #expect(try await GoldenReplica.State(replica) == expected.after)
    await replica.close()
  }

  @Test("holds what the content says, rows in limbo included")
  func content() async throws {
    let vector = try GoldenReplica.content.decode(MergeVector.self)
    let replica = try await GoldenReplica.open(path)
    var found = 0
    for case .expect(let expectation) in vector.steps where expectation.on == ["recorded"] {
      for (table, rows) in expectation.rows {
        let names = vector.columns(of: table).joined(separator: ", ")
        let shown = try await replica.rows(SQL(text: "SELECT \(names) FROM \(table)")).map(\.values)
        #expect(Set(shown) == Set(rows.map { $0.map(\.value) }), "\(table)")
        found += shown.count
      }
      let limbo = try await replica.rowsInLimbo().mapValues(Set.init)
      #expect(limbo == expectation.limbo?.mapValues { Set($0.map { $0.map(\.value) }) })
    }
    #expect(found == expected.before.rows)
    await replica.close()
  }

  @Test("the recorded replica continues to write, under an incarnation of its own")
  func writes() async throws {
    let replica = try await GoldenReplica.open(path)
    try await replica.write { _ = try $0.execute("UPDATE page SET views = views + 1") }
    #expect(try await replica.maintenance.verify().problems == [])
    #expect(try await replica.status().unsent > 0)
    await replica.close()
  }
}

@Suite("Specs/golden/migrated")
struct GoldenMigrationTests {
  @Test("a replica that has migrated and waits for more opens, migrates on, and its state file is taken in")
  func opens() async throws {
    let expected = try GoldenMigration.expected()
    #expect(expected.held == 1 && expected.losses > 0 && expected.recorded.conflicts == 2)
    #expect(try await GoldenMigration() == expected)
  }

  @Test("holds the values that its migrations and its state file brought")
  func content() async throws {
    let place = try TemporaryFolder()
    let (replica, joiner) = (place.file("replica"), place.file("joiner"))
    try GoldenReplica.copy(from: GoldenMigration.replica, to: replica)
    try GoldenReplica.copy(from: GoldenMigration.joiner, to: joiner)
    func rows(_ price: String) -> SQL { SQL(text: "SELECT id, title, \(price), slug FROM note ORDER BY id") }
    let expected: [[Value]] = [
      [1, "Won", .real(9_007_199_254_740_992), "won"], [2, "Two!", .real(2), "two"],
    ]
    let newer = try await GoldenMigration.open(replica, version: 3)
    #expect(try await newer.rows(rows("cost")).map(\.values) == expected)
    #expect(try await newer.rows("SELECT stars FROM note ORDER BY id").map(\.values) == [[5], [3]])
    #expect(try await newer.rows("SELECT name FROM tag").map(\.values) == [["new"]])
    let lost = try await newer.conflicts.list()
    #expect(Set(lost.map { $0.columns + $0.formerColumns }) == [["title"], ["mood", "mood"]])
    await newer.close()
    let joined = try await GoldenMigration.open(joiner, version: 0)
    _ = try await joined.import(from: .file(GoldenMigration.stateFile))
    #expect(try await joined.rows(rows("price")).map(\.values) == expected)
    await joined.close()
  }
}

@Suite(
  "Recording Specs/golden", .serialized,
  .enabled(if: ProcessInfo.processInfo.environment["GODWIT_RECORD_GOLDEN"] != nil))
struct GoldenRecordingTests {
  @Test("replaces what is there")
  func record() async throws { try await GoldenReplica.record() }

  @Test("replaces what has migrated")
  func recordMigration() async throws { try await GoldenMigration.record() }

  @Test("replaces the backup of it")
  func recordBackup() async throws { try await GoldenReplica.recordBackup() }
}
