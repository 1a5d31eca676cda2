import GodwitBase
import GodwitCore
import GodwitStorage

/// Applies transactions whose authors had seen everything that is here: their operations as they stand, without row
/// states, for nothing can be in conflict (Specs/merge.md, "How it is done").
struct FastForward {
  let connection: Connection
  let tables: MergeTables
  let references: ReferenceJudge

  /// Whether the change set's tables stand here exactly as its author had them.
  func fits(_ changes: ChangeSet) throws -> Bool {
    try changes.tables.allSatisfy { remote in
      guard let table = try tables.named(remote.name) else { return false }
      let columns = table.definition.columns
      return remote.columnCount == columns.count && remote.keyCount == table.definition.keyCount
        && remote.columns.allSatisfy { column in
          columns[column.index].name == column.name && columns[column.index].merge.isRelative == column.isRelative
        }
    }
  }

  /// Why a transaction cannot be applied as it stands: merging says what becomes of it then, as it does on a replica
  /// that had something else to merge. Both take in the same (Specs/merge.md, "How it is done").
  private struct Unfit: Error {}

  /// Applies the operations and returns the cells of the rows deleted; or nil, and nothing is done, where a row is not
  /// as its author must have had it, a value has another form in this table, or a constraint of this replica's is
  /// broken.
  func attempt(_ changes: ChangeSet) throws -> [UInt8]? {
    let survey = try survey(changes)
    guard survey.isStored else { return nil }
    let mayRefuse = try changes.tables.contains { try tables.named($0.name)?.mayRefuse() == true }
    do {
      // To look for values that are missing costs far less than a savepoint.
      guard mayRefuse || survey.lacksValues else { return try apply(changes, survey) }
      return try inSavepoint { try apply(changes, survey) }
    } catch is Unfit {
      return nil
    } catch let error as GodwitError where error.code == .constraint {
      return nil
    }
  }

  /// What the body wrote and what it added to the sums is taken back when it throws.
  private func inSavepoint<Output>(_ body: () throws -> Output) throws -> Output {
    let mark = tables.tally?.mark() ?? [:]
    do {
      return try connection.savepoint(body)
    } catch {
      tables.tally?.rewind(to: mark)
      throw error
    }
  }

  /// What one look at all operations says of them.
  private struct Survey {
    /// Whether the tables keep all values in the form that they come in.
    var isStored = true
    /// Whether some row would hold NULL where only this table demands a value.
    var lacksValues = false
    var insertsAlone = true
  }

  /// Ends early, with the rest unsaid, when a value is not stored as it comes.
  private func survey(_ changes: ChangeSet) throws -> Survey {
    let used = try changes.tables.map { try tables.named($0.name) }
    var survey = Survey()
    try changes.forEach { operation in
      guard survey.isStored, let table = used[operation.table] else { return }
      if operation.kind == .insert {
        if table.plainlyTakes(operation.row) { return }
      } else {
        survey.insertsAlone = false
      }
      survey.isStored = try keeps(operation, table, changes)
      if !survey.lacksValues { survey.lacksValues = try lacksValue(operation, table, changes) }
    }
    return survey
  }

  private func keeps(_ operation: Operation, _ table: MergeTable, _ changes: ChangeSet) throws -> Bool {
    let definition = table.definition
    switch operation.kind {
    case .insert: return try !definition.mayConvert(operation.row)
    case .delete: return try !definition.mayConvert(operation.key)
    case .update:
      let cells = try operation.cells(in: changes.tables[operation.table])
      // An update of no column only touches its row, and no table shows that.
      guard !cells.isEmpty else { return false }
      return try !definition.mayConvert(operation.key)
        && !cells.contains { definition.mayConvert($0.value, in: $0.column) }
    }
  }

  private func lacksValue(_ operation: Operation, _ table: MergeTable, _ changes: ChangeSet) throws -> Bool {
    guard table.required.contains(true) else { return false }
    switch operation.kind {
    case .insert: return operation.row.withUnsafeBytes { EncodedRow.lacks(table.required, $0) }
    case .update:
      return try operation.cells(in: changes.tables[operation.table]).contains {
        $0.value == .null && table.required[$0.column]
      }
    case .delete: return false
    }
  }

  /// Applies the operations and returns the cells of the rows deleted, in the order of the delete operations. Throws
  /// ``Unfit``, with nothing done unless a savepoint is around it.
  ///
  /// Where unique indexes are, all rows that go or whose unique columns change are taken out before any is put in.
  private func apply(_ changes: ChangeSet, _ survey: Survey) throws -> [UInt8] {
    let used = try changes.tables.map { try tables.named($0.name) }
    guard used.contains(where: { $0?.uniqueIndexes.isEmpty == false }) else {
      guard survey.insertsAlone else { return try applyInOrder(changes, used) }
      try insertAll(changes, used)
      return []
    }
    var deletedCells = ByteWriter()
    var moved: [(table: MergeTable, key: RowKey, values: [Value])] = []
    try changes.forEach { operation in
      guard let table = used[operation.table] else { return }
      switch operation.kind {
      case .delete: try delete(operation, table, &deletedCells)
      case .update where try touchesUnique(operation, table, changes):
        let key = RowKey(table: table.number, key: operation.key)
        moved.append((table, key, try takeOut(operation, table, changes)))
      case .insert, .update: break
      }
    }
    try changes.forEach { operation in
      guard let table = used[operation.table] else { return }
      switch operation.kind {
      case .insert: try insert(operation, table)
      case .delete: break
      case .update: if try !touchesUnique(operation, table, changes) { try update(operation, table, changes) }
      }
    }
    for row in moved {
      try row.table.rows.insert(row.key.key, row.values)
      references.check(row.key, in: row.table)
    }
    return deletedCells.bytes
  }

  /// No row is named twice, so their order is free: inserts come first, which alone can fail then, and are taken back.
  private func applyInOrder(_ changes: ChangeSet, _ used: [MergeTable?]) throws -> [UInt8] {
    try requireRows(of: changes, used)
    try insertAll(changes, used)
    var deletedCells = ByteWriter()
    try changes.forEach { operation in
      guard let table = used[operation.table] else { return }
      switch operation.kind {
      case .insert: break
      case .delete: try delete(operation, table, &deletedCells)
      case .update: try update(operation, table, changes)
      }
    }
    return deletedCells.bytes
  }

  /// Throws ``Unfit`` unless the rows that are changed are there.
  private func requireRows(of changes: ChangeSet, _ used: [MergeTable?]) throws {
    try changes.forEach { operation in
      guard operation.kind != .insert, let table = used[operation.table] else { return }
      switch operation.kind {
      case .update:
        let isRelative = changes.tables[operation.table].columns.contains(where: \.isRelative)
        guard try table.rows.contains(operation.key) else { throw Unfit() }
        if isRelative { _ = try assignments(operation, table, changes) }
      case .insert, .delete: guard try table.rows.contains(operation.key) else { throw Unfit() }
      }
    }
  }

  private func insertAll(_ changes: ChangeSet, _ used: [MergeTable?]) throws {
    var count = 0
    // One statement for all rows of a table that follow on each other.
    var inserting: (table: Int, statement: Statement)?
    defer { if let inserting { connection.giveBack(inserting.statement) } }
    do {
      try changes.forEach { operation in
        guard operation.kind == .insert, let table = used[operation.table] else { return }
        if inserting?.table != operation.table {
          if let inserting { connection.giveBack(inserting.statement) }
          inserting = nil
          inserting = (operation.table, try connection.borrow(table.rows.insertSQL))
        }
        guard let statement = inserting?.statement else { return }
        try operation.row.withUnsafeBytes { try table.rows.insert(encoded: $0, by: statement) }
        references.check(operation, in: table)
        count += 1
      }
    } catch let error as GodwitError where error.code == .constraint {
      try changes.forEach { operation in
        guard operation.kind == .insert, count > 0, let table = used[operation.table] else { return }
        try table.rows.delete(operation.key)
        count -= 1
      }
      throw Unfit()
    }
  }

  private func insert(_ operation: Operation, _ table: MergeTable) throws {
    // Key and payload stand side by side in the change set, and were checked when its frame was decoded.
    try operation.row.withUnsafeBytes { try table.rows.insert(encoded: $0) }
    references.check(operation, in: table)
  }

  private func delete(_ operation: Operation, _ table: MergeTable, _ deletedCells: inout ByteWriter) throws {
    let key = operation.key
    guard let values = try table.rows.values(key) else { throw Unfit() }
    for value in values { deletedCells.value(value) }
    try table.rows.delete(key, holding: values)
    try references.departed(RowKey(table: table.number, key: key), from: table)
  }

  private func update(_ operation: Operation, _ table: MergeTable, _ changes: ChangeSet) throws {
    let assigned = try assignments(operation, table, changes)
    guard try table.rows.update(operation.key, assigned) else { throw Unfit() }
    if assigned.contains(where: { table.referenceColumns.contains($0.column) }) {
      references.check(operation, in: table)
    }
  }

  private func assignments(
    _ operation: Operation, _ table: MergeTable, _ changes: ChangeSet
  ) throws -> [(column: Int, value: Value)] {
    let cells = try operation.cells(in: changes.tables[operation.table])
    return try resolved(cells, operation, table) { try table.rows.values(operation.key) }
  }

  /// What the columns hold afterwards: relative cells are applied to what is there.
  private func resolved(
    _ cells: [Cell], _ operation: Operation, _ table: MergeTable, current: () throws -> [Value]?
  ) throws -> [(column: Int, value: Value)] {
    var row: [Value]?
    return try cells.map { cell in
      guard table.rules.policy(of: cell.column).isRelative else { return (cell.column, cell.value) }
      if row == nil { row = try current() }
      guard let before = row?[cell.column - table.definition.keyCount] else { throw Unfit() }
      // What comes to a counter or set and is none says nothing, which merging knows how to say.
      guard let value = try? table.rules.value(of: cell, appliedTo: before) else { throw Unfit() }
      return (cell.column, value)
    }
  }

  private func touchesUnique(_ operation: Operation, _ table: MergeTable, _ changes: ChangeSet) throws -> Bool {
    guard !table.uniqueIndexes.isEmpty else { return false }
    return try operation.cells(in: changes.tables[operation.table]).contains { table.uniqueColumns.contains($0.column) }
  }

  private func takeOut(_ operation: Operation, _ table: MergeTable, _ changes: ChangeSet) throws -> [Value] {
    guard let before = try table.rows.values(operation.key) else { throw Unfit() }
    var values = before
    let cells = try operation.cells(in: changes.tables[operation.table])
    for (column, value) in try resolved(cells, operation, table, current: { values }) {
      values[column - table.definition.keyCount] = value
    }
    try table.rows.delete(operation.key, holding: before)
    return values
  }
}
