import GodwitBase
import GodwitCore
import GodwitStorage

/// Brings transactions into the tables, inside the import's database transaction, with triggers and foreign keys off.
///
/// As long as every author had seen all that is here, operations are applied as they stand (``FastForward``). From the
/// first transaction on of which that is not so, operations are gathered by row, and each row is merged once per
/// batch, in key order.
final class Merger {
  private let log: ChangeLog
  private let tables: MergeTables
  private let places: RowPlaces
  private let limbo = LimboJournal()
  private let unique: UniqueJudge
  private let references: ReferenceJudge
  private let fastForward: FastForward
  private let localWrites: LocalWrites
  private let conflicts: ConflictLog
  private let lister: ConflictLister
  private let adapter: SchemaAdapter
  /// The transaction before may refer to rows that are not there.
  private var mayDangle = false
  private var pending: [RowKey: [RowWrite]] = [:]
  private var pendingCount = 0
  private var pendingCells = 0
  var conflictCount: Int { lister.count }
  private(set) var prunedConflicts = 0
  private(set) var rowCount = 0

  /// Operations gathered before they are applied; bounds the memory of an import.
  private static let batchSize = 20_000
  /// The same of their cells, so that wide rows count as what they are.
  private static let batchCellCount = 250_000

  init(
    _ connection: Connection, log: ChangeLog, catalog: Catalog, functions: [CustomMerge], tally: StateTally,
    _ adapter: SchemaAdapter, aside: Set<Int> = []
  ) throws {
    self.log = log
    self.adapter = adapter
    tables = MergeTables(connection, catalog: catalog, functions: functions, tally: tally, aside: aside)
    places = try RowPlaces(connection, tables: tables, origins: log.origins)
    unique = UniqueJudge(places, limbo: limbo)
    conflicts = ConflictLog(connection, origins: log.origins)
    lister = ConflictLister(conflicts, tables)
    let fold = LogFold(connection: connection, log: log, tables: tables, states: places.states, adapter: adapter)
    localWrites = LocalWrites(fold, places, unique: unique, lister)
    references = ReferenceJudge(places, unique: unique, limbo: limbo, localWrites)
    fastForward = FastForward(connection: connection, tables: tables, references: references)
  }

  /// Takes in the transaction that comes next, before it is appended to the log, and returns the cells of the rows
  /// it deleted, for its log entry.
  ///
  /// `context` is all that its author held, the transaction itself included. `asItStands` says that it is in the terms
  /// of the tables here and that its timestamp is greater than those of all that is here of its rows, as every author
  /// sees to: otherwise stamps decide, and not who saw whom.
  func add(_ record: TransactionRecord, context: VersionVector, asItStands: Bool) throws -> [UInt8] {
    if mayDangle { try references.settle() }
    // What a replica makes anew when it rejoins is the first transaction of an incarnation, and the only kind that may
    // leave rows in limbo by itself. Whoever wrote next saw what had become of it.
    mayDangle = record.dot.sequence == SequenceNumber.none.next
    if !localWrites.areFolded, asItStands, places.limbo.isEmpty, context.covers(log.origins.vector) {
      let changes = try ChangeSet(record.changes[...])
      if try fastForward.fits(changes), let deletedCells = try fastForward.attempt(changes) {
        rowCount += changes.operationCount
        return deletedCells
      }
    }
    try localWrites.fold()
    try merge(record, context: context)
    return []
  }

  private func merge(_ record: TransactionRecord, context: VersionVector) throws {
    // Its writes share one copy of what it had seen.
    pendingCells += context.entries.count
    try adapter.forEachWrite(of: record, context: context, at: record.hlc) { key, write in
      if pendingCount >= Self.batchSize || pendingCells >= Self.batchCellCount { try flush() }
      pending[key, default: []].append(write)
      pendingCount += 1
      pendingCells += write.cells.count
    }
  }

  /// Folds the transactions since the last fold, for who asks the row states before they write.
  func foldAhead() throws { try localWrites.foldAhead() }

  /// Brings limbo in line with the local writes since the last fold, which saw only what the tables showed. `keys` are
  /// rows whose references have not been judged yet. Of the conflict log stays what was found besides.
  func settleLocalWrites(to keys: Set<RowKey> = [], besides found: Int = 0) throws {
    try localWrites.fold()
    for key in keys.sorted() {
      guard try places.isShown(key) else {
        try places.noteDeparture(key)
        continue
      }
      references.check(key, in: try tables[key.table])
      try places.noteArrival(key)
    }
    try finish(besides: found)
  }

  /// Judges the references of the tables' rows, which came into them without a look at those, and of the rows that
  /// refer to them.
  func settleRows(of names: [String]) throws {
    try localWrites.fold()
    let here = try names.compactMap(tables.any)
    let referring = try here.flatMap { try tables.references(to: $0).map(\.table) }
    let all = Dictionary((here + referring).map { ($0.number, $0) }) { first, _ in first }
    for (_, table) in all.sorted(by: { $0.key < $1.key }) { try references.checkRows(of: table) }
    try finish()
  }

  /// The rows of a table that has stayed here which it does not show as they are, for they wait or hide a reference:
  /// whole, key first.
  func hiddenRows(of name: String) throws -> [[Value]] {
    guard let table = try tables.any(named: name) else { return [] }
    var rows: [[Value]] = []
    try places.states.forEach(of: table.number) { key, state in
      guard state.hiddenCells != nil || !state.hiddenReferences.isEmpty else { return }
      var values = try table.rows.values(key.key)
      if values == nil {
        values = state.hiddenCells.map(table.completed)
      } else {
        // What was written to the row since stands.
        for (column, value) in state.hiddenReferences where values?[column - table.definition.keyCount] == .null {
          values?[column - table.definition.keyCount] = value
        }
      }
      if let values { rows.append(try table.row(key, values)) }
    }
    return rows
  }

  /// Lists the rows of a table that wait, whole, and hidden references: they go with what is remembered of the table.
  func listWaiting(in table: String) throws {
    try localWrites.fold()
    guard let table = try tables.named(table) else { return }
    for key in try places.limbo.keys(of: table.number) {
      if let row = try places.load(key) { try lister.list(row) }
    }
  }

  /// Judges the rows that stay on this replica, after a state file has replaced what they refer to.
  func settleLocalRows(besides found: Int) throws {
    try localWrites.fold()
    try references.checkLocalRows()
    try finish(besides: found)
  }

  /// Applies what has been gathered and judges references, of all rows at once.
  func finish(besides found: Int = 0) throws {
    if localWrites.areFolded { try flush() }
    // Another batch may have given up what one took that a unique index of the program's own refused.
    for key in limbo.refused {
      if let row = try places.load(key), !row.isShown { _ = try unique.admit(row) }
    }
    try references.settle()
    try lister.list(limbo, places)
    // What this import found stays, however much it is: nobody has seen it yet.
    if conflictCount > 0 {
      prunedConflicts += try conflicts.prune(keeping: max(ConflictLog.entryLimit, conflictCount + found))
    }
    if localWrites.areFolded { try log.origins.markFolded() }
  }

  /// Judges the rows of tables that a migration has changed: they wait for what their indexes and columns are now, or
  /// do not wait any more. Each unique index that it brings is made by `make`, where need be with all rows out of their
  /// table that hold the same there; then they are shown as far as no lesser key claims what they hold.
  func rejudge(
    _ names: [String], unique indexes: [(table: String, index: IndexDefinition)],
    _ make: (TableDefinition, IndexDefinition) throws -> Void
  ) throws {
    try localWrites.fold()
    let changed = try names.compactMap(tables.any)
    try renewReasons(of: changed)
    for (name, index) in indexes {
      guard let table = try tables.named(name) else { continue }
      do {
        try make(table.definition, index)
      } catch let error as GodwitError where error.code == .constraint {
        let equal = try table.rows.keys(equalIn: index).compactMap {
          try places.load(RowKey(table: table.number, key: $0[...]))
        }
        for row in equal { try places.park(row) }
        try make(table.definition, index)
        try unique.place(try equal.compactMap { try places.load($0.key) })
        try unique.resolve()
      }
    }
    // Until all indexes were there a value could be in several rows, of which the first was taken for the only one.
    if !indexes.isEmpty {
      for table in changed where table.definition.isSynced { try unique.changedSomewhere(in: table.number) }
      try unique.resolve()
    }
    try finish()
  }

  private func renewReasons(of tables: [MergeTable]) throws {
    for table in tables {
      let isSynced = table.definition.isSynced
      let free = try places.renewReasons(of: table) { row in
        if isSynced { try unique.changed(row) }
        references.check(row.key, in: table)
      }
      for row in free { _ = try unique.admit(row) }
      // Of local rows the one that is shown stands.
      if isSynced { try unique.changedSomewhere(in: table.number) }
    }
    try unique.resolve()
  }

  /// Merges what has been gathered.
  private func flush() throws {
    let batch = pending
    pending.removeAll(keepingCapacity: true)
    pendingCount = 0
    pendingCells = 0
    if !batch.isEmpty { try merge(batch) }
  }

  /// Every row that goes, and every row whose unique columns change, is taken out before any is put in, so that
  /// unique values may go from row to row.
  private func merge(_ batch: [RowKey: [RowWrite]]) throws {
    var arrivals: [LivingRow] = []
    let changes = try self.changes(by: batch)
    for change in changes {
      try lister.list(change.lost, of: change.key)
      if let before = change.before { try unique.changed(before) }
      if let arriving = try change.apply(references) { arrivals.append(arriving) }
    }
    rowCount += changes.count
    try unique.place(arrivals)
    try unique.resolve()
  }

  /// What becomes of each row, in key order.
  private func changes(by batch: [RowKey: [RowWrite]]) throws -> [RowChange] {
    try batch.sorted { $0.key < $1.key }.map { key, writes in try RowChange(writes, to: key, places) }
  }
}
