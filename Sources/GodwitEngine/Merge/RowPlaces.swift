import GodwitBase
import GodwitCore
import GodwitStorage

/// A living row: its state, its true values, and whether its table shows it or it waits in limbo.
struct LivingRow {
  let key: RowKey
  var state: RowState
  /// The columns beside the key, hidden references as they really are.
  var values: [Value]
  var isShown: Bool
}

/// Puts living rows into their tables and takes them out, and keeps states, hidden cells and limbo reasons in step with
/// that.
final class RowPlaces {
  let tables: MergeTables
  let states: RowStates
  let limbo: Limbo
  /// Rows that came into their table or left it, for those that refer to them.
  private(set) var arrived: Set<RowKey> = []
  private(set) var departed: Set<RowKey> = []

  init(_ connection: Connection, tables: MergeTables, origins: OriginTable) throws {
    self.tables = tables
    states = RowStates(connection: connection, origins: origins)
    limbo = try Limbo(connection)
  }

  /// The row as it stands, or nil when it is not alive.
  func load(_ key: RowKey) throws -> LivingRow? {
    let table = try tables[key.table]
    guard let state = try states.load(key) else {
      return try table.rows.values(key.key).map { LivingRow(key: key, state: .stable, values: $0, isShown: true) }
    }
    guard state.isAlive(table.definition.deletes) else { return nil }
    if let hiddenCells = state.hiddenCells {
      if !table.definition.isSynced, let values = try table.rows.values(key.key) {
        // A local row took its key: no log says so.
        return LivingRow(key: key, state: .stable, values: values, isShown: true)
      }
      return LivingRow(key: key, state: state, values: table.completed(hiddenCells), isShown: false)
    }
    guard var values = try table.rows.values(key.key) else { return nil }
    for (column, value) in state.hiddenReferences {
      let place = column - table.definition.keyCount
      // What was written to a local row since is in no log, and stands in its table.
      if table.definition.isSynced || values[place] == .null { values[place] = value }
    }
    return LivingRow(key: key, state: state, values: values, isShown: true)
  }

  /// Puts a row into its table. Its hidden references are forgotten: whether what it refers to is there is judged anew.
  func show(_ row: LivingRow) throws {
    try tables[row.key.table].rows.insert(row.key.key, row.values)
    var state = row.state
    state.hiddenCells = nil
    state.hiddenReferences = [:]
    try states.save(state, for: row.key)
    try limbo.removeAll(for: row.key)
    try noteArrival(row.key)
  }

  /// Keeps a row in limbo, out of its table, with all its claims and references.
  func park(_ row: LivingRow) throws {
    if row.isShown { try takeOut(row.key) }
    var state = row.state
    state.hiddenCells = row.values
    state.hiddenReferences = [:]
    try states.save(state, for: row.key)
    try wait(row)
  }

  private func wait(_ row: LivingRow) throws {
    let table = try tables[row.key.table]
    try release(row.key)
    var reasons = try claims(of: row)
    let whole = try table.row(row.key, row.values)
    for reference in table.references {
      guard let target = try parent(of: reference, in: whole) else { continue }
      reasons.append(Limbo.Reason(parent: target))
    }
    // Whatever is in limbo has a reason: that there are none means that there is no limbo.
    for reason in reasons.isEmpty ? [Limbo.Reason(constraintOf: row.key.table)] : reasons {
      try limbo.add(reason, for: row.key)
    }
  }

  /// Has the waiting rows of a table wait for what they would wait for now, and calls the body with each. Returns those
  /// that are not shown and may be now: the caller finds out which.
  func renewReasons(of table: MergeTable, _ body: (LivingRow) throws -> Void) throws -> [LivingRow] {
    var free: [LivingRow] = []
    // A reference that is gone with its column leaves nothing to wait for.
    try limbo.removeAll(of: table.number)
    try states.forEach(of: table.number) { key, state in
      guard state.hiddenCells != nil || !state.hiddenReferences.isEmpty, let row = try load(key) else { return }
      if !row.isShown {
        try wait(row)
        free.append(row)
      } else {
        try wait(row, for: [], hiding: Set(row.state.hiddenReferences.keys))
      }
      try body(row)
    }
    return free
  }

  /// Takes a row out of its table; its state is the caller's to keep.
  func takeOut(_ key: RowKey) throws {
    try tables[key.table].rows.delete(key.key)
    try noteDeparture(key)
  }

  /// A row is in its table that may not have been, or may refer to others than before.
  func noteArrival(_ key: RowKey) throws {
    guard try isReferring(key) else { return }
    arrived.insert(key)
    departed.remove(key)
  }

  func noteDeparture(_ key: RowKey) throws {
    guard try isReferring(key) else { return }
    departed.insert(key)
    arrived.remove(key)
  }

  /// Rows of tables that no reference starts or ends at need no judging.
  private func isReferring(_ key: RowKey) throws -> Bool {
    let table = try tables[key.table]
    return try !table.references.isEmpty || !tables.references(to: table).isEmpty
  }

  /// Has a row that its table shows wait for what its hidden references refer to, and for nothing else. It keeps the
  /// claims that no index of the table sees.
  func wait(_ row: LivingRow, for references: Set<Limbo.Reason>, hiding columns: Set<Int>) throws {
    try limbo.replace(references.union(hiddenClaims(of: row, columns)), for: row.key)
  }

  /// A local write changed a row or took the key of one in limbo: what that waited for is over. Hidden references
  /// stay with their reasons until they are judged, and claim what the row has now.
  func renewReasons(of row: LivingRow) throws {
    let hiddenReferences = Set(row.state.hiddenReferences.keys)
    let references = hiddenReferences.isEmpty ? [] : try limbo.reasons(of: row.key).filter { !$0.isClaim }
    try wait(row, for: Set(references), hiding: hiddenReferences)
  }

  /// It waits for nothing any more.
  func release(_ key: RowKey) throws { try limbo.removeAll(for: key) }

  func claims(of row: LivingRow) throws -> [Limbo.Reason] { try claims(of: row) { _ in true } }

  /// The claims which its table does not show, for a column of theirs is hidden.
  private func hiddenClaims(of row: LivingRow, _ hiddenReferences: Set<Int>) throws -> [Limbo.Reason] {
    guard !hiddenReferences.isEmpty else { return [] }
    return try claims(of: row) { !hiddenReferences.isDisjoint(with: $0.columns) }
  }

  private func claims(
    of row: LivingRow, where isIncluded: (MergeTable.UniqueIndex) -> Bool
  ) throws -> [Limbo.Reason] {
    let table = try tables[row.key.table]
    guard !table.uniqueIndexes.isEmpty else { return [] }
    let whole = try table.row(row.key, row.values)
    return table.uniqueIndexes.filter(isIncluded).compactMap {
      Limbo.Reason(claimOf: $0.name, $0.columns, table: table.number, row: whole)
    }
  }

  /// The row a reference names; nil for NULL, and where that is not to be judged yet. A table that is not here has none
  /// of its rows.
  func parent(of reference: MergeTable.Reference, in row: [Value]) throws -> RowKey? {
    try parent(of: reference, is: row[reference.column])
  }

  func parent(of reference: MergeTable.Reference, is value: Value) throws -> RowKey? {
    guard value != .null else { return nil }
    guard let target = try tables.any(named: reference.target) else { return RowKey(table: 0, key: value) }
    guard !tables.aside.contains(target.number) else { return nil }
    return RowKey(table: target.number, key: value.asKey(of: target.definition.columns[0].type))
  }

  func isShown(_ key: RowKey) throws -> Bool {
    key.table == 0 ? false : try tables[key.table].rows.contains(key.key)
  }

  func takeMovements() -> (arrived: Set<RowKey>, departed: Set<RowKey>) {
    defer {
      arrived = []
      departed = []
    }
    return (arrived, departed)
  }
}
