import GodwitBase
import GodwitReplication
import GodwitStorage

/// Puts transactions of other schema versions into the terms of this replica's tables, for the merge: the log keeps
/// them as their authors wrote them (Specs/migrations.md, "Carrying").
final class ChangeCarrier {
  struct Carried {
    /// What can be applied here; nil when that is nothing.
    let record: TransactionRecord?
    /// What waits.
    let waiting: WaitingOperations
    /// What it waits for, in words.
    let unknown: Set<String>
    /// Whether every row that it brings has the values which it needs.
    var isComplete = true
    /// Whether the record is the one that came, all of it.
    var isPlain = false
  }

  private let connection: Connection
  private let catalog: Catalog
  private let history: MigrationHistory
  private let converter: ValueConverter
  /// Nil where what is carried has been carried before, or is made anew: then nothing of it is written down.
  private let losses: LossLog?
  /// Whether an insert is given the defaults of columns that its author had not got.
  private let completesInserts: Bool
  /// The version and header of the last change set that could be taken as it is.
  private var plainVersion: UInt64?
  private var plainHeader: [UInt8] = []
  /// Those of the record before: most records are like the one before them.
  private var latest: (version: UInt64, tables: [ChangeSet.Table], landings: [ColumnLandings])?

  init(
    _ connection: Connection, catalog: Catalog, history: MigrationHistory, reading isReading: Bool = false,
    completingInserts completesInserts: Bool = true
  ) throws {
    self.completesInserts = completesInserts
    self.connection = connection
    self.catalog = catalog
    self.history = history
    converter = ValueConverter(connection: connection)
    losses = isReading ? nil : LossLog(connection)
  }

  /// Carries a whole transaction, or what of it has been waiting until now.
  func carry(_ record: TransactionRecord, only earlier: WaitingOperations? = nil) throws -> Carried {
    if earlier == nil, isLikeTheLast(record) {
      return Carried(record: record, waiting: WaitingOperations(), unknown: [], isPlain: true)
    }
    let changes = try ChangeSet(record.changes[...])
    let landings = try landings(changes.tables, of: record.schemaVersion)
    if earlier == nil, landings.allSatisfy(\.isIdentity) {
      remember(record)
      return Carried(record: record, waiting: WaitingOperations(), unknown: [], isPlain: true)
    }
    var run = CarrierRun(changes: changes, landings: landings)
    var place = 0
    try changes.forEach { operation in
      defer { place += 1 }
      if let earlier {
        guard let columns = earlier.columns[place] else { return }
        try take(operation, place, columns, record.schemaVersion, &run)
      } else {
        try take(operation, place, nil, record.schemaVersion, &run)
      }
    }
    let rewritten = try run.changeSet.map { bytes in
      guard bytes.count <= TransactionRecord.changesByteLimit else {
        throw GodwitError(.limitExceeded, "a transaction grows beyond its limit when it is carried forward")
      }
      return TransactionRecord(
        dot: record.dot, hlc: record.hlc, schemaVersion: history.version, context: record.context, changes: bytes)
    }
    return Carried(record: rewritten, waiting: run.waiting, unknown: run.unknown, isComplete: run.isComplete)
  }

  /// The rows here that a transaction writes to, those of which its cells wait included; or only these (`waiting`).
  func rows(of record: TransactionRecord, only waiting: WaitingOperations? = nil) throws -> [RowKey] {
    let changes = try ChangeSet(record.changes[...])
    return try changes.rows(in: landings(changes.tables, of: record.schemaVersion).map(\.table), only: waiting)
  }

  /// Whether the author of a transaction had not got a column, which its inserts are given the default of.
  func isAdded(_ column: Int, to table: Int, since record: TransactionRecord) throws -> Bool {
    let changes = try ChangeSet(record.changes[...])
    return try landings(changes.tables, of: record.schemaVersion).contains { landings in
      landings.table?.id == table && landings.additions.contains { $0.number == column }
    }
  }

  /// Whether the record is of the same version and has the same dictionary, byte for byte, as one that was taken as it is.
  private func isLikeTheLast(_ record: TransactionRecord) -> Bool {
    guard record.schemaVersion == plainVersion else { return false }
    return record.changes.starts(with: plainHeader)
  }

  private func remember(_ record: TransactionRecord) {
    plainVersion = record.schemaVersion
    plainHeader = record.changes.withUnsafeBytes { changes in
      Array(changes.prefix(ChangeSet.operationsStart(in: changes)))
    }
  }

  private func landings(_ tables: [ChangeSet.Table], of version: UInt64) throws -> [ColumnLandings] {
    if let latest, latest.version == version, latest.tables == tables { return latest.landings }
    guard version <= history.knownVersion else {
      throw GodwitError(
        .corruptFile, "a transaction is of schema version \(version), whose migrations nobody has sent")
    }
    let landings = try tables.map { table in
      try ColumnLandings(table, history.carriage(of: table, from: version), in: catalog)
    }
    latest = (version, tables, landings)
    return landings
  }

  /// `columns` are those of the operation that waited; all of it otherwise.
  private func take(
    _ operation: Operation, _ place: Int, _ columns: [Int]?, _ version: UInt64, _ run: inout CarrierRun
  ) throws {
    let landings = run.landings[operation.table]
    if case .unknown(let what) = landings.fate { return run.wait(place, for: what) }
    guard let table = landings.table else { return }
    if operation.kind == .delete { return run.append(operation, to: table, [:]) }
    var values: [Int: Value] = [:]
    /// What inserts write in the place of values that have none.
    var standIns: [Int: Value] = [:]
    var unknown: [(column: Int, what: String)] = []
    for cell in try operation.cells(in: run.changes.tables[operation.table]) {
      if let columns, !columns.contains(cell.column) { continue }
      guard let places = landings.columns[cell.column] else { throw ByteReader.malformed("a column without a name") }
      for landing in places {
        let column = "column \(landing.name) of table \(table.definition.name)"
        guard let number = landing.number else {
          unknown.append((cell.column, column))
          continue
        }
        if let value = try convert(cell.value, landing, table, operation, version) {
          values[number] = value
        } else {
          standIns[number] = try converter.carry(cell.value, by: landing.conversions) ?? .null
          unknown.append((cell.column, "another rule for \(column): a migration's has no value for what was written"))
        }
      }
    }
    if operation.kind == .insert, columns == nil {
      for (number, addition) in landings.additions
      where values[number] == nil && (completesInserts || landings.required.contains(number)) {
        let value = try converter.carry(addition.value, by: addition.conversions) ?? .null
        values[number] = Self.brought(value, to: table.definition.columns[number])
      }
      // The table does not take such a row: it is in limbo until something is written there.
      if landings.required.contains(where: { (values[$0] ?? standIns[$0] ?? .null) == .null }) { run.isComplete = false }
      if completesInserts { complete(&values, with: standIns, in: table.definition) }
    }
    for (column, what) in unknown { run.wait(place, column: column, for: what) }
    guard columns == nil || !values.isEmpty else { return }
    run.append(operation, to: table, values)
  }

  /// An insert's stamp stands for all columns: where its value waits there is none, whatever stood there before.
  private func complete(_ values: inout [Int: Value], with standIns: [Int: Value], in table: TableDefinition) {
    guard !table.isCollection else { return }
    for (number, column) in table.columns.enumerated().dropFirst(table.keyCount)
    where values[number] == nil && !column.merge.isContributed {
      values[number] = standIns[number] ?? column.defaultValue ?? .null
    }
  }

  /// Many inserts of a row bring a counter's default once.
  private static func brought(_ value: Value, to column: ColumnDefinition) -> Value {
    guard column.merge == .counter, case .integer(let count) = value else { return value }
    return CounterDefault.value(count)
  }

  /// Nil when the value has no place in the column as it is now.
  private func convert(
    _ value: Value, _ landing: ColumnLandings.Landing, _ table: CatalogTable, _ operation: Operation, _ version: UInt64
  ) throws -> Value? {
    guard !landing.conversions.isEmpty else { return value }
    guard let (converted, loses) = try converter.attempt(landing.conversions, on: value) else { return nil }
    if loses {
      try losses?.add(
        value, version: history.version, table: table.definition.name, key: Array(operation.key), column: landing.name)
    }
    return converted
  }
}
