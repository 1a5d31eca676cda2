import GodwitBase
import GodwitCore
import GodwitStorage

/// Brings the row states up to date with the transactions since the last fold. Neither local writes nor transactions
/// that had seen everything here keep states of their own; they are folded in bulk before anything is merged
/// (Specs/merge.md, "How it is done").
struct LogFold {
  let connection: Connection
  let log: ChangeLog
  let tables: MergeTables
  let states: RowStates
  /// What is in the log and not folded is in the terms of the tables here, but for columns that a collection got since.
  let adapter: SchemaAdapter

  private static let batchSize = 50_000

  /// Calls the body with the key of each row that was written since, as often as it was, and with what the write took
  /// the place of though no table showed it.
  func run(_ body: (RowKey, [ConflictEntry]) throws -> Void = { _, _ in }) throws {
    guard log.origins.hasUnfolded else { return }
    try run(through: log.origins.vector, skipping: { _ in false }, body)
  }

  /// Folds at most so many of the transactions that the vector covers. A row that has no state gets none by a write
  /// that is skipped: what is forgotten at once need not be written first.
  func run(
    through end: VersionVector, limit: Int = .max, skipping canSkip: (TransactionRecord) -> Bool,
    _ body: (RowKey, [ConflictEntry]) throws -> Void = { _, _ in }
  ) throws {
    var batch: [RowKey: RowState] = [:]
    func save() throws {
      for (key, state) in batch.sorted(by: { $0.key < $1.key }) { try states.save(state, for: key) }
      batch.removeAll(keepingCapacity: true)
    }
    let reached = try forEachWrite(through: end, limit: limit) { key, write, record, table, hiddenCells in
      let known = try batch[key] ?? states.load(key)
      if known == nil, canSkip(record) { return }
      batch[key] = try fold(write, into: known, table: table, hiddenCells: hiddenCells)
      try body(key, known.map { try replaced(key, $0, by: write, table) } ?? [])
      if batch.count >= Self.batchSize { try save() }
    }
    try save()
    try log.origins.markFolded(through: reached)
  }

  /// The state the row would have if everything were folded; nil when nothing is remembered of it. Writes nothing, and
  /// takes time in proportion to what is not folded yet.
  func state(of row: RowKey) throws -> RowState? {
    var state = try states.load(row)
    guard log.origins.hasUnfolded else { return state }
    _ = try forEachWrite(of: row, through: log.origins.vector) { _, write, _, table, hiddenCells in
      state = try fold(write, into: state, table: table, hiddenCells: hiddenCells)
    }
    return state
  }

  /// Calls the body with the writes since the last fold, causes first: all of them, or those of one row. Returns how
  /// far it came.
  private func forEachWrite(
    of wanted: RowKey? = nil, through end: VersionVector, limit: Int = .max,
    _ body: (RowKey, RowWrite, TransactionRecord, CatalogTable, _ hiddenCells: [Value]?) throws -> Void
  ) throws -> VersionVector {
    try log.forEachUnfolded(through: end, limit: limit) { record, context, deletedCells in
      var deletedCells = ByteReader(deletedCells)
      let changes = try ChangeSet(record.changes[...])
      let terms = try adapter.terms(of: record)
      if let awaited = terms.awaited { throw GodwitError(.damagedLog, "the log uses \(awaited), which is not here") }
      let stamp = CellStamp(hlc: record.hlc, dot: record.dot)
      try changes.forEach { operation in
        let remote = changes.tables[operation.table]
        let hiddenCells = operation.kind == .delete ? try Self.hiddenCells(&deletedCells, of: remote) : nil
        guard let table = terms.tables[operation.table] else { return }
        if let wanted, wanted.table != table.table.id || wanted.key != operation.key { return }
        let (key, write) = try adapter.write(of: operation, remote, table, stamp, context)
        let definition = table.table.definition
        // A member's state file may say more than there are columns.
        let cells = hiddenCells?.prefix(definition.columns.count - definition.keyCount)
        try body(key, write, record, table.table, cells.map(Array.init))
      }
    }
  }

  /// The write is in the table already and saw everything here, so nothing is lost and no value is asked for.
  private func fold(
    _ write: RowWrite, into known: RowState?, table: CatalogTable, hiddenCells: [Value]?
  ) throws -> RowState {
    let before = known ?? (write.kind == .insert ? RowState() : .stable)
    let rules = try tables[table.id].rules
    var merge = RowMerge(before, rules) { rules.policy(of: $0) == .counter ? .integer(0) : .null }
    try merge.apply(write)
    var state = merge.state
    state.hiddenCells = hiddenCells
    if let hiddenCells, !state.hiddenReferences.isEmpty {
      var cells = try tables[table.id].completed(hiddenCells)
      // The table shows NULL for what is hidden; the hidden cells keep what it stands for.
      for (column, value) in state.hiddenReferences { cells[column - table.definition.keyCount] = value }
      state.hiddenCells = cells
    }
    let isHidden: (Int) -> Bool = { column in
      write.kind == .update && !write.cells.contains { $0.column == column }
    }
    state.hiddenReferences = state.hiddenReferences.filter { isHidden($0.key) }
    return state
  }

  /// The cells of a row in limbo whose key another took.
  private func replaced(
    _ key: RowKey, _ row: RowState, by write: RowWrite, _ table: CatalogTable
  ) throws -> [ConflictEntry] {
    guard write.kind == .insert, let hiddenCells = row.hiddenCells, row.isAlive(table.definition.deletes) else {
      return []
    }
    let cells = try tables[table.id].completed(hiddenCells)
    return write.cells.compactMap { cell in
      let value = cells[cell.column - table.definition.keyCount]
      guard value != .null, value != cell.value else { return nil }
      return ConflictEntry(
        kind: .edit, row: key, columns: [table.definition.columns[cell.column].name], values: [value],
        winningValues: [cell.value], loser: row.stamp(of: cell.column), winner: write.stamp)
    }
  }

  /// The columns that the table had then; those added since come behind them.
  private static func hiddenCells(_ deletedCells: inout ByteReader, of table: ChangeSet.Table) throws -> [Value] {
    try (table.keyCount..<table.columnCount).map { _ in try deletedCells.value() }
  }
}
