import GodwitBase
import GodwitModel
import GodwitCore
import GodwitStorage

/// What an import of a sync file would do.
public struct ImportPlan: Sendable {
  /// What a state file would make of a table.
  public struct TableState: Sendable, Hashable {
    /// The table's name.
    public let table: String
    /// Rows it shows now, whose place the state file's take.
    public let rowsBefore: Int
    /// Rows the state file brings. Own transactions that are made anew come on top of them.
    public let rows: Int
  }

  /// What the import would report.
  public let report: MergeReport
  /// What would take the place of the whole state, by table in the order of their names; empty unless it is the file's
  /// state file that would be taken in (``MergeReport/Applied/state``).
  public let state: [TableState]
  /// What the transactions that would be applied do, by table; of a state file those that would be made anew on
  /// top of it.
  public let changes: [LogEntry.TableChanges]
  /// The first conflicts it would list, with their values, oldest first. ``MergeReport/Attention/conflicts`` counts
  /// all.
  public let conflicts: [Conflict]
  /// The first rows that it would put into limbo, or hide references of.
  public let limbo: [LimboRow]
  /// How many rows would be in limbo, or show a hidden reference, afterwards that are not now.
  public let limboCount: Int
}

/// Looks at what an import has done, inside its transaction, before that is taken back.
package final class ImportPlanner {
  /// Entries of each list that a plan gives.
  private static let listLimit = 1_000

  private var held = VersionVector()
  private var lastConflict = Conflict.ID(0)
  private var waiting: Set<RowKey> = []
  private var rowsBefore: [String: Int] = [:]
  package private(set) var plan: ImportPlan?

  package init() {}

  /// Notes how things stand before the import.
  func begin(_ writer: ReplicaWriter) throws {
    held = writer.log.origins.vector
    lastConflict = try ConflictLog(writer.connection, origins: writer.log.origins).last
    waiting = Set(try Limbo(writer.connection).keys(limit: .max))
  }

  /// Notes what a state file is about to take the place of.
  func beginStateFile(_ writer: ReplicaWriter) throws {
    for table in writer.catalog.synced.map(\.definition.name) {
      let count = try writer.connection.scalar("SELECT count(*) FROM \(SQLName.quoted(table))")
      if case .integer(let rows)? = count { rowsBefore[table] = Int(rows) }
    }
  }

  /// Compares that with how they stand after it.
  func end(_ writer: ReplicaWriter, _ report: MergeReport, _ stateFile: StateImport.Outcome?) throws {
    let history = try RowHistory(writer.connection, log: writer.log, catalog: writer.catalog)
    let keys = try history.places.limbo.keys(limit: .max).filter { !waiting.contains($0) }
    let origins = stateFile == nil ? writer.log.origins.vector.origins : [writer.log.origins.own]
    plan = ImportPlan(
      report: report, state: stateFile.map(state) ?? [],
      changes: try changes(writer.log, of: origins),
      conflicts: try ConflictLog(writer.connection, origins: writer.log.origins)
        .list(.init(after: lastConflict), limit: Self.listLimit).reversed(),
      limbo: try keys.prefix(Self.listLimit).compactMap(history.limboRow), limboCount: keys.count)
  }

  private func state(_ stateFile: StateImport.Outcome) -> [ImportPlan.TableState] {
    let brought = Dictionary(stateFile.rows.map { ($0.table, $0.count) }, uniquingKeysWith: +)
    return Set(rowsBefore.keys).union(brought.keys).sorted().map { table in
      ImportPlan.TableState(table: table, rowsBefore: rowsBefore[table] ?? 0, rows: brought[table] ?? 0)
    }
  }

  private func changes(_ log: ChangeLog, of origins: [Origin]) throws -> [LogEntry.TableChanges] {
    var counts: [String: [OperationKind: Int]] = [:]
    for origin in origins {
      try log.forEach(of: origin, after: held[origin]) { record, _ in
        let changes = try ChangeSet(record.changes[...])
        try changes.forEach { counts[changes.tables[$0.table].name, default: [:]][$0.kind, default: 0] += 1 }
      }
    }
    return counts.sorted { $0.key < $1.key }.map { LogEntry.TableChanges($0.key, $0.value) }
  }
}

/// Thrown to have a transaction taken back that has given all it was run for.
package struct TakenBack: Error {}
