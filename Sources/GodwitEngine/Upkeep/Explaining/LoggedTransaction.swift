import GodwitBase
import GodwitCore

/// One transaction of the change log with all it did.
public struct LoggedTransaction: Sendable {
  /// What one operation did to its row.
  public enum Kind: String, Sendable {
    /// Made the row.
    case insert
    /// Changed cells.
    case update
    /// Deleted the row.
    case delete
  }

  /// A cell that was written.
  public struct Cell: Sendable, Hashable {
    /// The column.
    public let column: String
    /// The value, or what was done to it.
    public let value: Value
    /// Whether ``value`` is what was done: a counter's difference; lines of `+` or `-` and an element for a set.
    public let isRelative: Bool
  }

  /// One operation on one row.
  public struct Operation: Sendable, Hashable {
    /// What it did.
    public let kind: Kind
    /// The row's table.
    public let table: String
    /// The row's primary key.
    public let key: [Value]
    /// The cells that were written.
    public let cells: [Cell]
  }

  /// How far its author held another replica's transactions.
  public struct Seen: Sendable, Hashable {
    /// The replica that wrote those.
    public let replica: ReplicaID
    /// The highest sequence number without a gap below it.
    public let sequence: UInt64
  }

  /// Who wrote it, when, and how much.
  public let entry: LogEntry
  /// The schema version it was written under.
  public let schemaVersion: UInt64
  /// What its author held of other replicas.
  public let seen: [Seen]
  /// The operations, in their order.
  public let operations: [Operation]
}

extension LoggedTransaction {
  package init(_ record: TransactionRecord, context: VersionVector) throws {
    let changes = try ChangeSet(record.changes[...])
    var operations: [Operation] = []
    operations.reserveCapacity(changes.operationCount)
    try changes.forEach { operations.append(try Operation($0, in: changes.tables[$0.table])) }
    self.init(
      entry: try LogEntry(record), schemaVersion: record.schemaVersion,
      seen: context.origins.map { Seen(replica: $0.replica, sequence: context[$0].rawValue) },
      operations: operations)
  }
}

extension LoggedTransaction.Operation {
  fileprivate init(_ operation: GodwitCore.Operation, in table: ChangeSet.Table) throws {
    let columns = Dictionary(uniqueKeysWithValues: table.columns.map { ($0.index, $0) })
    let isUpdate = operation.kind == .update
    kind =
      switch operation.kind {
      case .insert: .insert
      case .update: .update
      case .delete: .delete
      }
    self.table = table.name
    key = try [Value](encoded: operation.key)
    cells = try operation.cells(in: table).map { cell in
      guard let column = columns[cell.column] else { throw ByteReader.malformed("a column without a name") }
      return LoggedTransaction.Cell(
        column: column.name, value: cell.value, isRelative: isUpdate && column.isRelative)
    }
  }
}
