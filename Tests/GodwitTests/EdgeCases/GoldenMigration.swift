import Foundation
import Godwit

@testable import Godwit
@testable import GodwitEngine

/// Specs/golden/migrated: a replica whose tables two migrations have changed and that waits for a third, a new member's
/// folder, and the state file that is sealed to it.
struct GoldenMigration: Codable, Equatable {
  /// Of the second version, as it was recorded.
  let recorded: GoldenReplica.State
  let held: Int
  let losses: Int
  /// Of the third.
  let migrated: GoldenReplica.State
  /// The new member after the state file.
  let joined: GoldenReplica.State

  private static let folder = "\(GoldenReplica.folder)/migrated"
  static let replica = "\(folder)/replica"
  static let joiner = "\(folder)/joiner"
  static let stateFile = "\(folder)/state-file.sync"
  private static let expectation = URL(fileURLWithPath: "\(folder)/expected.json")

  @Migrations.Builder static func migrations() -> [Migration] {
    Migration(1, "notes") {
      $0.create("note") {
        $0.column("id", Int.self)
        $0.column("titel", String.self, default: "")
        $0.column("price", Int.self, default: 0)
        $0.column("mood", String?.self)
      }
    }
    Migration(2, "words") {
      $0.alter("note") {
        $0.rename("titel", to: "title")
        $0.change("price", Double.self, default: 0)
      }
      $0.alter("note") {
        $0.drop("mood")
        $0.add("slug", String.self, from: "title", by: "lower(title)", default: "")
      }
    }
    Migration(3, "more") {
      $0.alter("note") {
        $0.add("stars", Int.self, default: 3)
        $0.rename("price", to: "cost")
      }
      $0.create("tag") {
        $0.column("id", Int.self)
        $0.column("name", String.self, default: "")
      }
    }
  }

  static func open(_ path: String, version: Int) async throws -> Replica {
    let migrations = version == 0 ? Migrations.none : Migrations(Array(migrations().prefix(version)))
    return try await ReplicaPair.open(path, [], TestClock(), migrations: migrations)
  }

  static func expected() throws -> GoldenMigration {
    try JSONDecoder().decode(GoldenMigration.self, from: Data(contentsOf: expectation))
  }

  /// What becomes of copies of the folders.
  init() async throws {
    let place = try TemporaryFolder()
    let (replica, joiner) = (place.file("replica"), place.file("joiner"))
    try GoldenReplica.copy(from: Self.replica, to: replica)
    try GoldenReplica.copy(from: Self.joiner, to: joiner)
    var open = try await Self.open(replica, version: 2)
    recorded = try await GoldenReplica.State(open)
    held = try await open.status().heldCount
    losses = try await open.migrations.losses().count
    await open.close()
    open = try await Self.open(replica, version: 3)
    migrated = try await GoldenReplica.State(open)
    await open.close()
    open = try await Self.open(joiner, version: 0)
    let report = try await open.import(from: .file(Self.stateFile))
    guard report.applied.state != nil else {
      throw GodwitError(.corruptFile, "the file was not taken for a state file")
    }
    joined = try await GoldenReplica.State(open)
    await open.close()
  }

  /// Makes the files, in place of those that were there.
  static func record() async throws {
    let group = try await MigrationGroup([1, 1], migrations)
    try await group.write(0, "INSERT INTO note VALUES (1, 'One', 9007199254740993, 'good'), (2, 'Two', 2, NULL)")
    try await group.exchange()
    try await group.write(0, "UPDATE note SET titel = 'Lost', mood = 'bad' WHERE id = 1")
    try await group.write(1, "UPDATE note SET titel = 'Won', mood = 'well' WHERE id = 1")
    try await group.exchange()
    for number in 0...1 { try await group.update(number, to: 2) }
    for _ in 0..<2 { try await group.exchange() }
    for replica in group.replicas { try await replica.maintenance.compact() }
    guard try await group[0].history.log().isEmpty else { throw GodwitError(.damagedLog, "nothing was forgotten") }
    try await group.write(0, "UPDATE note SET title = 'Two!' WHERE id = 2")
    try await group.update(1, to: 3)
    try await group.write(1, "UPDATE note SET stars = 5 WHERE id = 1", "INSERT INTO tag VALUES (1, 'new')")
    try await group.send(1, to: 0)
    let joiner = group.path(2)
    let identity = try await Replica.identity(at: joiner)
    let invitation = group.folder.file("invitation")
    try await group[0].members.invite(
      identity, name: "replica-2", verification: .trustOnFirstUse, to: .file(invitation))
    try await Replica.join(at: joiner, invitation: .file(invitation), inviter: .trustOnFirstUse).closeIntoOneFile()
    try? FileManager.default.removeItem(atPath: folder)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    _ = try await group[0].export(to: .file(stateFile))
    try await group[0].closeIntoOneFile()
    try GoldenReplica.copy(from: group.path(0), to: replica)
    try GoldenReplica.copy(from: joiner, to: self.joiner)
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    try await (encoder.encode(GoldenMigration()) + Data("\n".utf8)).write(to: expectation)
  }
}
