import GodwitBase
import GodwitModel
import GodwitCore
import GodwitStorage

/// Puts transactions in the terms of this database's tables: those of its own version, and older ones, carried forward
/// operation by operation (Specs/migrations.md, "Older transactions are carried forward"). The log keeps them as their
/// authors wrote them.
final class SchemaAdapter {
  /// Where the tables of a change set stand here.
  struct Terms {
    /// In the order of the change set's dictionary; nil for one that a step has taken away, or its sync.
    let tables: [TableTerms?]
    /// What the transaction waits for, in words: a schema version, table or column that is not here. Nil when it can be
    /// applied.
    var awaited: String?
    /// Whether the operations can be taken as they stand.
    var isPlain: Bool { awaited == nil && tables.allSatisfy { $0?.isPlain ?? false } }
  }

  private let connection: Connection
  private let catalog: Catalog
  /// Whether what a rule has no value for is written down. It is once, when a transaction is applied.
  private let recordsLosses: Bool
  /// Whether an insert is given the defaults of columns that its author had not got.
  private let completesInserts: Bool
  private var knownHistory: MigrationHistory?
  /// Those of the record before: most records are like the one before them.
  private var latest: (version: UInt64, header: [UInt8], terms: Terms)?

  init(
    _ connection: Connection, _ catalog: Catalog, recordingLosses recordsLosses: Bool = false,
    completingInserts completesInserts: Bool = true
  ) {
    self.connection = connection
    self.catalog = catalog
    self.recordsLosses = recordsLosses
    self.completesInserts = completesInserts
  }

  private func history() throws -> MigrationHistory {
    let history = try knownHistory ?? MigrationHistory(connection)
    knownHistory = history
    return history
  }

  /// - Throws: `corruptFile` for a version whose migrations nobody has sent.
  func terms(of record: TransactionRecord) throws -> Terms {
    if let latest, latest.version == record.schemaVersion, record.changes.starts(with: latest.header) {
      return latest.terms
    }
    let terms = try makeTerms(of: record)
    let header = record.changes.withUnsafeBytes { changes in
      Array(changes.prefix(ChangeSet.operationsStart(in: changes)))
    }
    latest = (record.schemaVersion, header, terms)
    return terms
  }

  private func makeTerms(of record: TransactionRecord) throws -> Terms {
    let history = try history()
    let version = record.schemaVersion
    guard version <= history.knownVersion else {
      throw GodwitError(
        .corruptFile, "a transaction is of schema version \(version), whose migrations nobody has sent")
    }
    guard version <= history.version else { return Terms(tables: [], awaited: "schema version \(version)") }
    var awaited: String?
    let tables = try ChangeSet(record.changes[...]).tables.map { table in
      do {
        return try TableTerms(table, history.path(of: table, from: version), in: catalog)
      } catch let missing as TableTerms.Missing {
        awaited = awaited ?? missing.what
        return nil
      }
    }
    return Terms(tables: tables, awaited: awaited)
  }

  /// The rows that a transaction writes; of tables that are not here none.
  func rows(of record: TransactionRecord) throws -> [RowKey] {
    let tables = try terms(of: record).tables
    guard !tables.isEmpty else { return [] }
    var rows: [RowKey] = []
    try ChangeSet(record.changes[...]).forEach { operation in
      if let terms = tables[operation.table] { rows.append(try terms.table.row(operation.key)) }
    }
    return rows
  }

  /// Calls the body with what a transaction writes, row by row. `hlc` takes the place of its own timestamp.
  ///
  /// - Throws: `needsMigration` for one that waits.
  func forEachWrite(
    of record: TransactionRecord, context: VersionVector, at hlc: HLC? = nil, _ body: (RowKey, RowWrite) throws -> Void
  ) throws {
    let terms = try terms(of: record)
    if let awaited = terms.awaited { throw Self.needsMigration(awaited) }
    let changes = try ChangeSet(record.changes[...])
    let stamp = CellStamp(hlc: hlc ?? record.hlc, dot: record.dot)
    try changes.forEach { operation in
      guard let table = terms.tables[operation.table] else { return }
      let (key, write) = try write(of: operation, changes.tables[operation.table], table, stamp, context)
      try body(key, write)
    }
  }

  /// What an operation writes.
  func write(
    of operation: Operation, _ remote: ChangeSet.Table, _ terms: TableTerms, _ stamp: CellStamp,
    _ context: VersionVector
  ) throws -> (key: RowKey, write: RowWrite) {
    let cells = try operation.cells(in: remote)
    return (
      try terms.table.row(operation.key),
      RowWrite(
        kind: operation.kind, stamp: stamp, context: context,
        cells: terms.isPlain ? cells.map(terms.stored) : try carry(cells, of: operation, terms))
    )
  }

  private func carry(_ cells: [Cell], of operation: Operation, _ terms: TableTerms) throws -> [Cell] {
    let converter = ValueConverter(connection: connection)
    var values: [Int: Value] = [:]
    for cell in cells {
      guard let targets = terms.targets[cell.column] else { throw ByteReader.malformed("a column without a name") }
      for target in targets {
        let outcome = try converter.convert(cell.value, by: target.conversions)
        values[target.number] = outcome.value
        if outcome.loses, recordsLosses {
          try LossLog(connection).add(
            cell.value, version: try history().version, table: terms.table.definition.name, key: Array(operation.key),
            column: terms.table.definition.columns[target.number].name)
        }
      }
    }
    if operation.kind == .insert, completesInserts {
      for addition in terms.additions where values[addition.number] == nil {
        values[addition.number] = try converter.convert(addition.value, by: addition.conversions).value
      }
    }
    return values.sorted { $0.key < $1.key }.map { terms.stored(Cell(column: $0.key, value: $0.value)) }
  }

  private static func needsMigration(_ what: String) -> GodwitError {
    GodwitError(
      .needsMigration, "the changes use \(what), which this replica does not have",
      hint: "update the program that owns this replica; nothing was changed")
  }
}
