import GodwitBase
import GodwitReplication
import GodwitStorage

/// Brings transactions into the tables: gathers their operations by row, and merges each row once per batch, in
/// key order. It runs inside the import's database transaction, with triggers off.
final class Merger {
  private let connection: Connection
  private let log: ChangeLog
  private let catalog: Catalog
  private let states: RowStates
  private var tables: [Int: TableRows] = [:]
  private var pending: [RowKey: [RowWrite]] = [:]
  private var pendingCount = 0
  private let conflicts: ConflictLog
  private(set) var conflictCount = 0
  private(set) var rowCount = 0

  /// Operations gathered before they are applied; bounds the memory of an import.
  private static let batchSize = 20_000

  init(_ connection: Connection, log: ChangeLog, catalog: Catalog) {
    self.connection = connection
    self.log = log
    self.catalog = catalog
    states = RowStates(connection: connection, origins: log.origins)
    conflicts = ConflictLog(connection, origins: log.origins)
  }

  /// Takes in a transaction that has been appended to the log.
  func add(_ record: TransactionRecord) throws {
    let stamp = CellStamp(hlc: record.hlc, dot: record.dot)
    let context = try log.context(of: record.dot)
    let changes = try ChangeSet(record.changes[...])
    let mappings = try changes.tables.map { try ColumnMapping($0, in: catalog) }
    try changes.forEach { operation in
      let mapping = mappings[operation.table]
      let cells = try mapping.map(operation.cells(in: changes.tables[operation.table]))
      let key = RowKey(table: mapping.table.id, key: operation.key)
      pending[key, default: []].append(
        RowWrite(kind: operation.kind, stamp: stamp, context: context, cells: cells))
      pendingCount += 1
    }
    if pendingCount >= Self.batchSize { try flush() }
  }

  /// Applies what has been gathered, so that unique values may go from row to row: every row that goes, and every
  /// row whose unique columns change, is taken out before any is put in.
  func flush() throws {
    var arrivals: [(rows: TableRows, key: RowKey, values: [Value])] = []
    for (key, writes) in pending.sorted(by: { $0.key < $1.key }) {
      guard let rows = try rows(of: key.table) else { continue }
      if let values = try merge(writes, into: key, of: rows) { arrivals.append((rows, key, values)) }
    }
    for arrival in arrivals { try arrival.rows.insert(arrival.key.key, arrival.values) }
    pending.removeAll(keepingCapacity: true)
    pendingCount = 0
  }

  /// Merges the writes into a row's state and takes the row out where that is needed; returns the values of a row
  /// that is to be put in.
  private func merge(_ writes: [RowWrite], into key: RowKey, of rows: TableRows) throws -> [Value]? {
    let before = try states.load(key) ?? RowState()
    let wasAlive = try before.isAlive(contextOf: log.context)
    let keyCount = rows.definition.keyCount
    let defaults = rows.definition.columns.dropFirst(keyCount).map { $0.defaultValue ?? .null }
    // An image from before a column was added lacks it.
    var stored: [Value]? = wasAlive ? nil : before.image.map { $0 + defaults.dropFirst($0.count) }
    func storedValues() throws -> [Value]? {
      if stored == nil, wasAlive { stored = try rows.values(key.key) }
      return stored
    }
    var merge = RowMerge(before)
    for write in writes {
      try merge.apply(write) { column in try storedValues()?[column - keyCount] ?? .null }
    }
    var after = merge.state
    func image() throws -> [Value] {
      var values = try storedValues() ?? defaults
      for (column, value) in merge.written { values[column - keyCount] = value }
      return values
    }
    var arriving: [Value]?
    switch (wasAlive, try after.isAlive(contextOf: log.context)) {
    case (true, true) where rows.uniqueColumns.isDisjoint(with: merge.written.keys):
      if !merge.written.isEmpty { try rows.update(key.key, merge.written) }
    case (true, true):
      arriving = try image()
      try rows.delete(key.key)
    case (true, false):
      after.image = try image()
      try rows.delete(key.key)
    case (false, true):
      arriving = try image()
      after.image = nil
    case (false, false):
      after.image = try image()
    }
    try states.save(after, for: key)
    for lost in merge.lost { try conflicts.add(lost, row: key, in: rows.definition) }
    conflictCount += merge.lost.count
    rowCount += 1
    return arriving
  }

  private func rows(of table: Int) throws -> TableRows? {
    if let rows = tables[table] { return rows }
    guard let entry = catalog.tables.first(where: { $0.id == table }) else { return nil }
    let rows = TableRows(entry.definition, on: connection)
    tables[table] = rows
    return rows
  }
}
