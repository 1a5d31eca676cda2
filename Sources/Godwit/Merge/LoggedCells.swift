import GodwitBase
import GodwitReplication
import GodwitStorage

/// What transactions wrote to single cells, read from the log again: row states keep the stamps of writes, and of those
/// beneath others no value.
struct LoggedCells {
  let connection: Connection
  let log: ChangeLog
  let tables: MergeTables

  func value(of column: Int, of row: RowKey, by dot: Dot) throws -> Value {
    guard let record = try log.record(of: dot), let carried = try carrier().carry(record).record else {
      return try RowMerge.noRecall(column, dot)
    }
    let changes = try ChangeSet(carried.changes[...])
    let mappings = try changes.tables.map { try ColumnMapping($0, in: tables.catalog) }
    let stamp = CellStamp(hlc: carried.hlc, dot: dot)
    var found: Value?
    try changes.forEach { operation in
      let writes = try RowWrite.of(
        operation, changes.tables[operation.table], mappings[operation.table], stamp, VersionVector())
      for (key, write) in writes where key == row {
        found = write.cells.first { $0.column == column }?.value ?? found
      }
    }
    let table = try tables[row.table]
    return found ?? table.defaults[column - table.definition.keyCount]
  }

  /// Whether a transaction's author had not got a column: then what it brought there is the default.
  func isAdded(_ column: Int, of row: RowKey, by dot: Dot) throws -> Bool {
    guard let record = try log.record(of: dot) else { return false }
    return try carrier().isAdded(column, to: row.table, since: record)
  }

  private func carrier() throws -> ChangeCarrier {
    try ChangeCarrier(connection, catalog: tables.catalog, history: MigrationHistory(connection), again: true)
  }
}
