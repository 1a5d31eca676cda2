import Foundation
import GodwitBase
import GodwitCore

/// One transaction of the change log.
public struct LogEntry: Sendable {
  /// The operations on one table.
  public struct TableChanges: Sendable {
    /// The table's name.
    public let table: String
    /// Rows inserted.
    public let inserted: Int
    /// Rows updated.
    public let updated: Int
    /// Rows deleted.
    public let deleted: Int
  }

  /// The replica that wrote it.
  public let replica: ReplicaID
  /// The replica's incarnation when it wrote.
  public let incarnation: Incarnation.ID
  /// Its sequence number there.
  public let sequence: UInt64
  /// In milliseconds since 1970 UTC.
  package let milliseconds: Int64
  /// When it was written, by the writer's clock.
  public var time: Date { Date(milliseconds: milliseconds) }
  /// What it did.
  public let changes: [TableChanges]
}

extension LogEntry {
  package init(_ record: TransactionRecord) throws {
    let changes = try ChangeSet(record.changes[...])
    var counts = changes.tables.map { _ in [OperationKind: Int]() }
    try changes.forEach { counts[$0.table][$0.kind, default: 0] += 1 }
    self.init(
      replica: record.dot.origin.replica, incarnation: record.dot.origin.incarnationID,
      sequence: record.dot.sequence.rawValue, milliseconds: record.hlc.milliseconds,
      changes: zip(changes.tables, counts).map { TableChanges($0.name, $1) })
  }
}

extension LogEntry.TableChanges {
  package init(_ table: String, _ counts: [OperationKind: Int]) {
    self.init(
      table: table, inserted: counts[.insert] ?? 0, updated: counts[.update] ?? 0, deleted: counts[.delete] ?? 0)
  }
}
