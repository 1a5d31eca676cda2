import GodwitBase
import GodwitCore
import GodwitEngine

/// How much the change log remembers: of whom and from when, and what that did to tables.
package struct LogTally: Sendable {
  /// Transactions and the bytes of their changes.
  package struct Amount: Sendable, Equatable {
    package var transactions = 0
    package var bytes = 0

    package init(transactions: Int = 0, bytes: Int = 0) {
      self.transactions = transactions
      self.bytes = bytes
    }

    package static func += (sum: inout Self, other: Self) {
      sum.transactions += other.transactions
      sum.bytes += other.bytes
    }
  }

  /// Rows inserted, updated and deleted.
  package struct Rows: Sendable, Equatable {
    package var inserted = 0
    package var updated = 0
    package var deleted = 0

    package init() {}
  }

  /// By writer, and by seconds since 1970 UTC by the writers' clocks.
  package var seconds: [ReplicaID: [Int64: Amount]] = [:]
  /// By the tables' names.
  package var tables: [String: Rows] = [:]

  package init() {}

  /// Reads the whole log once.
  init(_ log: ChangeLog) throws {
    for origin in log.origins.vector.origins {
      try log.forEach(of: origin, after: .none) { record, _ in
        let second = record.hlc.milliseconds / 1_000
        seconds[origin.replica, default: [:]][second, default: Amount()] += Amount(
          transactions: 1, bytes: record.changes.count)
        for change in try LogEntry(record).changes {
          tables[change.table, default: Rows()].inserted += change.inserted
          tables[change.table, default: Rows()].updated += change.updated
          tables[change.table, default: Rows()].deleted += change.deleted
        }
      }
    }
  }
}

extension Replica.History {
  /// How much the log remembers. Linear in the log; takes memory for the seconds in which something was written.
  package func tally() async throws -> LogTally {
    try await replica.pool.read { try LogTally(try ChangeLog($0)) }
  }
}
