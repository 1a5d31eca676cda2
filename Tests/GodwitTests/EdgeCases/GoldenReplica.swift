import Foundation
import Godwit

/// Specs/golden: a replica folder and a sync file as a format version wrote them, and what they hold.
struct GoldenReplica: Codable, Equatable {
  /// What is known of the replica at one time.
  struct State: Codable, Equatable {
    let digest: String
    let transactions: Int
    let rows: Int
    let conflicts: Int
    let staged: Int

    init(_ replica: Replica) async throws {
      let report = try await replica.maintenance.verify()
      guard report.problems.isEmpty else {
        throw GodwitError(.damagedDatabase, report.problems.joined(separator: "; "))
      }
      let status = try await replica.status()
      digest = report.digest
      transactions = report.transactions
      rows = report.rows
      conflicts = status.conflicts
      staged = status.staged
    }
  }

  /// As it was recorded, and after the sync file.
  let before: State
  let after: State

  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Specs/golden").path
  static let replica = "\(folder)/replica"
  static let syncFile = "\(folder)/changes.sync"
  static let backup = "\(folder)/backup"
  static let content = VectorFile(path: "\(folder)/content.json")
  private static let files = ["database", "keyring", "keyring.anchor", "machine.key"]
  private static let expectation = URL(fileURLWithPath: "\(folder)/expected.json")

  static func expected() throws -> GoldenReplica {
    try JSONDecoder().decode(GoldenReplica.self, from: Data(contentsOf: expectation))
  }

  /// Copies a replica's files, as readable as a keyring may be: git keeps no such modes.
  static func copy(from source: String, to target: String) throws {
    try FileManager.default.createDirectory(
      atPath: target, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    for name in files { try copy(name, from: source, to: target) }
  }

  static func copy(_ name: String, from source: String, to target: String) throws {
    let path = "\(target)/\(name)"
    try? FileManager.default.removeItem(atPath: path)
    try FileManager.default.copyItem(atPath: "\(source)/\(name)", toPath: path)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
  }

  static func open(_ path: String, key: Replica.KeySource = .keyring(), isReadOnly: Bool = false) async throws
    -> Replica
  {
    try await Replica.open(
      at: path, models: [], configuration: .init(key: key, isReadOnly: isReadOnly, logger: .init(label: "test")),
      wallClock: TestClock().wallClock)
  }

  /// Runs the content and keeps what came of it, in place of what was there.
  static func record() async throws {
    let run = try await VectorRun.run(content.decode(MergeVector.self), seed: nil)
    let recorded = try run["recorded"].replica
    let file = try run.path(of: "changes")
    try? FileManager.default.removeItem(atPath: syncFile)
    try FileManager.default.copyItem(atPath: file, toPath: syncFile)
    try await recorded.closeIntoOneFile()
    try copy(from: recorded.path, to: Self.replica)
    let replica = try await open(recorded.path)
    let before = try await State(replica)
    _ = try await replica.import(from: .file(syncFile))
    let golden = GoldenReplica(before: before, after: try await State(replica))
    await replica.close()
    await run.close()
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    try (encoder.encode(golden) + Data("\n".utf8)).write(to: expectation)
  }

  /// A backup of the replica that is recorded.
  static func recordBackup() async throws {
    let place = try TemporaryFolder()
    try copy(from: Self.replica, to: place.file("replica"))
    let replica = try await open(place.file("replica"), isReadOnly: true)
    _ = try await replica.maintenance.backup(to: backup)
    await replica.close()
  }

  private init(before: State, after: State) {
    self.before = before
    self.after = after
  }
}
