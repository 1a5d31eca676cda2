import Foundation
import Godwit
import Testing

/// A replica that writes and one that only receives: after a file has gone over, both must hold the same.
struct ReplicaPair {
  let folder: TemporaryFolder
  let clock = TestClock()
  let sender: Replica
  let receiver: Replica

  init(models: [any Model.Type]) async throws {
    folder = try TemporaryFolder()
    let (here, there) = (folder.file("here"), folder.file("there"))
    let first = try await Self.open(here, models, clock)
    let identity = try await Replica.identity(at: there)
    let invitation = folder.file("invitation")
    try await first.members.invite(identity, name: "there", verification: .trustOnFirstUse, to: .file(invitation))
    await (try Replica.join(at: there, invitation: .file(invitation), inviter: .trustOnFirstUse)).close()
    sender = first
    receiver = try await Self.open(there, models, clock)
  }

  static func open(
    _ path: String, _ models: [any Model.Type], _ clock: TestClock, migrations: Migrations = .none
  ) async throws -> Replica {
    try await Replica.open(
      at: path, models: models,
      configuration: .init(key: .keyring(), migrations: migrations, logger: .init(label: "test")),
      wallClock: clock.wallClock)
  }

  /// Carries what the receiver lacks.
  @discardableResult
  func carry() async throws -> MergeReport {
    let path = folder.file(UUID().uuidString)
    defer { unlink(path) }
    _ = try await sender.export(to: .file(path))
    return try await receiver.import(from: .file(path))
  }

  /// The log brings the receiver exactly what the sender's tables hold.
  func expectSame(_ comment: Comment? = nil, at location: SourceLocation = #_sourceLocation) async throws {
    try await carry()
    #expect(try await sender.maintenance.digest() == receiver.maintenance.digest(), comment, sourceLocation: location)
  }
}

/// What a transaction did, summed over its tables.
struct ChangeCounts: Equatable, CustomTestStringConvertible {
  var inserted = 0
  var updated = 0
  var deleted = 0
  var testDescription: String { "+\(inserted) ~\(updated) -\(deleted)" }

  init(_ inserted: Int = 0, _ updated: Int = 0, _ deleted: Int = 0) {
    (self.inserted, self.updated, self.deleted) = (inserted, updated, deleted)
  }

  init(_ entry: LogEntry) {
    for change in entry.changes {
      inserted += change.inserted
      updated += change.updated
      deleted += change.deleted
    }
  }

  /// What the difference of two states amounts to, table by table and row by row.
  init(from before: TableContents, to after: TableContents) {
    for (table, rows) in after.rows {
      let old = before.rows[table] ?? [:]
      inserted += rows.keys.filter { old[$0] == nil }.count
      updated += rows.filter { key, values in old[key].map { $0 != values } ?? false }.count
      deleted += old.keys.filter { rows[$0] == nil }.count
    }
  }
}

/// Every row of some tables by its key, which is the first column.
struct TableContents: Sendable {
  var rows: [String: [Value: [Value]]] = [:]

  init(_ replica: Replica, _ tables: [String]) async throws {
    rows = try await replica.read { stateFile in
      var rows: [String: [Value: [Value]]] = [:]
      for table in tables {
        var contents: [Value: [Value]] = [:]
        for row in try stateFile.rows(SQL(text: "SELECT * FROM \(table)")) { contents[row.values[0]] = row.values }
        rows[table] = contents
      }
      return rows
    }
  }
}

extension Replica {
  /// The newest transaction of the log, or nil.
  func latest() async throws -> LogEntry? { try await history.log(limit: 1).first }

  /// What the newest transaction did.
  func latestCounts() async throws -> ChangeCounts? { try await latest().map(ChangeCounts.init) }
}
