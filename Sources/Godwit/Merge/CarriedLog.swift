import GodwitBase
import GodwitReplication
import GodwitStorage

/// The transactions of the log, in the terms of the tables as they are now.
struct CarriedLog {
  let connection: Connection
  let log: ChangeLog
  let tables: MergeTables

  /// Calls the body with the writes of all transactions, causes first; `record` is as its author wrote it. Reads the whole
  /// log.
  func forEach(_ body: (_ record: TransactionRecord, RowKey, RowWrite) throws -> Void) throws {
    let carrier = try carrier()
    var order = try log.order(after: log.origins.floor, through: log.origins.vector)
    while let entry = try order.next() {
      guard let carried = try carrier.carry(entry.record).record else { continue }
      try forEachWrite(of: carried, context: entry.context) { try body(entry.record, $0, $1) }
    }
  }

  /// Calls the body with what a transaction that is carried writes, row by row. `hlc` takes the place of its own timestamp.
  func forEachWrite(
    of carried: TransactionRecord, context: VersionVector, at hlc: HLC? = nil, _ body: (RowKey, RowWrite) throws -> Void
  ) throws {
    let changes = try ChangeSet(carried.changes[...])
    let mappings = try changes.tables.map { try ColumnMapping($0, in: tables.catalog) }
    let stamp = CellStamp(hlc: hlc ?? carried.hlc, dot: carried.dot)
    try changes.forEach { operation in
      let remote = changes.tables[operation.table]
      let (key, write) = try RowWrite.of(operation, remote, mappings[operation.table], stamp, context)
      try body(key, write)
    }
  }

  /// What a transaction wrote to a single cell: row states keep the stamps of writes, and of those beneath others no value.
  func value(of column: Int, of row: RowKey, by dot: Dot) throws -> Value {
    guard let record = try log.record(of: dot), let carried = try carrier().carry(record).record else {
      throw GodwitError(.damagedLog, "a row's state asks for what transaction \(dot.sequence) wrote to it")
    }
    var found: Value?
    try forEachWrite(of: carried, context: VersionVector()) { key, write in
      if key == row { found = write.value(of: column) ?? found }
    }
    let table = try tables[row.table]
    return found ?? table.defaults[column - table.definition.keyCount]
  }

  /// Whether a transaction's author had not got a column: then what it brought there is the default.
  func isAdded(_ column: Int, of row: RowKey, by dot: Dot) throws -> Bool {
    guard let record = try log.record(of: dot) else { return false }
    return try carrier().isAdded(column, to: row.table, since: record)
  }

  /// Nil when the log does not have the transaction any more.
  func authoredCells(of dot: Dot) throws -> AuthoredCells? {
    guard let record = try log.record(of: dot) else { return nil }
    let carrier = try carrier(completingInserts: false)
    let carried = try carrier.carry(record)
    var cells = AuthoredCells(waiting: Set(try carrier.rows(of: record, only: carried.waiting)))
    if let carried = carried.record {
      try forEachWrite(of: carried, context: VersionVector()) { key, write in cells.add(write, to: key) }
    }
    return cells
  }

  private func carrier(completingInserts: Bool = true) throws -> ChangeCarrier {
    try ChangeCarrier(
      connection, catalog: tables.catalog, history: MigrationHistory(connection), reading: true,
      completingInserts: completingInserts)
  }
}
