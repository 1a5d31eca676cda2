import Foundation
import Godwit
import GodwitReports

/// All that the pages about a replica show, read at one time (Specs/report.md, "What a page has").
package struct ReplicaPicture: Sendable {
  package let takenAt: Date
  package let report: StatusReport
  package let holdings: Replica.Holdings
  package let missing: MissingReport
  /// The newest that are open.
  package let conflicts: [Conflict]
  package let limbo: [LimboRow]
  package let migrations: Migrations.Status
  package let tally: LogTally
  /// Bytes of the database that are free.
  package let freeBytes: Int

  package var status: Replica.Status { report.status }
  package var names: ReplicaNames { report.names }
  package var members: [Member] { report.members }

  /// How many conflicts and rows in limbo are read.
  package static let listed = 100

  /// Reads everything. Takes time for the log that is remembered and for the rows of the tables, which are counted.
  package init(of replica: Replica, at time: Date = Date()) async throws {
    takenAt = time
    let status = try await replica.status()
    report = StatusReport(replica: replica, status: status, members: try await replica.members.list())
    holdings = try await replica.holdings()
    missing = try await replica.history.missing()
    conflicts = try await replica.conflicts.open(limit: Self.listed)
    limbo = try await replica.history.limbo(limit: Self.listed)
    migrations = try await replica.migrations.status()
    tally = try await replica.history.tally()
    freeBytes = try await replica.freeBytes()
  }
}
