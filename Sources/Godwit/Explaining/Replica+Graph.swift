import GodwitBase
import GodwitCore
import GodwitEngine

extension LogEntry {
  /// Which transaction it is.
  package struct Head: Hashable, Sendable {
    package let replica: ReplicaID
    package let incarnation: Incarnation.ID
    package let sequence: UInt64
  }

  /// Which transaction this is.
  package var head: Head { Head(replica: replica, incarnation: incarnation, sequence: sequence) }
}

extension Replica.History {
  /// For each entry the transactions of others that its writer had taken in since its own one before, but for
  /// those that another of these includes.
  package func merges(of entries: [LogEntry]) async throws -> [[LogEntry.Head]] {
    try await replica.pool.read { connection in
      let log = try ChangeLog(connection)
      let origins = Dictionary(grouping: log.origins.all, by: \.replica)
      return try entries.map { entry in
        let origin = origins[entry.replica]?.first { $0.incarnationID == entry.incarnation }
        return try origin.map { try Self.merges(of: Dot($0, SequenceNumber(rawValue: entry.sequence)), log) } ?? []
      }
    }
  }

  private static func merges(of dot: Dot, _ log: ChangeLog) throws -> [LogEntry.Head] {
    let now = try log.othersContext(of: dot)
    let before = try log.othersContext(of: Dot(dot.origin, SequenceNumber(rawValue: dot.sequence.rawValue - 1)))
    let new = now.origins.filter { now[$0] > before[$0] && $0 != dot.origin }.map { Dot($0, now[$0]) }
    let contexts = try new.map { try log.othersContext(of: $0) }
    let last = new.filter { head in
      !zip(new, contexts).contains { $0 != head && $1[head.origin] >= head.sequence }
    }
    return last.map {
      LogEntry.Head(
        replica: $0.origin.replica, incarnation: $0.origin.incarnationID, sequence: $0.sequence.rawValue)
    }
  }
}
