import GodwitBase
import GodwitReplication
import GodwitStorage

/// Applies transactions whose authors had seen everything that is here: their operations as they stand, without row
/// states, for nothing can be in conflict (Specs/merge.md, "Fast forward").
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

  /// The same as ``apply(_:)``, or nil and nothing done when a row breaks a constraint that its author did not have:
  /// merging keeps that row in limbo and applies the rest.
  func attempt(_ changes: ChangeSet) throws -> [UInt8]? {
    let mayRefuse = try changes.tables.contains { try tables.named($0.name)?.mayRefuse == true }
    guard try mayRefuse || lacksValues(changes) else { return try apply(changes) }
    do {
      return try connection.savepoint { try apply(changes) }
    } catch let error as GodwitError where error.code == .constraint {
      return nil
    }
  }

  /// Whether some row would hold NULL where only this table demands a value. To look costs far less than a savepoint.
  private func lacksValues(_ changes: ChangeSet) throws -> Bool {
    let required = try changes.tables.map { try tables.named($0.name)?.required ?? [] }
    var lacks = false
    try changes.forEach { operation in
      guard !lacks, required[operation.table].contains(true) else { return }
      switch operation.kind {
      case .insert: lacks = operation.row.withUnsafeBytes { EncodedRow.lacks(required[operation.table], $0) }
      case .update, .move:
        lacks = try operation.cells(in: changes.tables[operation.table]).contains { cell in
          cell.value == .null && required[operation.table][cell.column]
        }
      case .delete: break
      }
    }
    return lacks
  }

  /// Applies the operations and returns the images of the rows deleted, in the order of the delete operations.
  ///
  /// Where unique indexes are, all rows that go or whose unique columns change are taken out before any is put in.
  private func apply(_ changes: ChangeSet) throws -> [UInt8] {
    let used = try changes.tables.map { try tables.named($0.name) }
    var images = ByteWriter()
    var moved: [(table: MergeTable, key: RowKey, values: [Value])] = []
    let hasUnique = used.contains { $0?.uniqueIndexes.isEmpty == false }
    if hasUnique {
      try changes.forEach { operation in
        guard let table = used[operation.table] else { return }
        switch operation.kind {
        case .delete: try delete(operation, table, &images)
        case .update where try touchesUnique(operation, table, changes):
          let key = RowKey(table: table.number, key: operation.key)
          moved.append((table, key, try takeOut(operation, table, changes)))
        case .move: try leave(operation, table, changes, &images)
        case .insert, .update: break
        }
      }
    }
    try changes.forEach { operation in
      guard let table = used[operation.table] else { return }
      switch operation.kind {
      case .insert: try insert(operation, table)
      case .delete: if !hasUnique { try delete(operation, table, &images) }
      case .move:
        if !hasUnique { try leave(operation, table, changes, &images) }
        try arrive(operation, table, changes)
      case .update:
        if try !hasUnique || !touchesUnique(operation, table, changes) { try update(operation, table, changes) }
      }
    }
    for row in moved {
      try row.table.rows.insert(row.key.key, row.values)
      references.check(row.key, in: row.table)
    }
    return images.bytes
  }

  private func insert(_ operation: Operation, _ table: MergeTable) throws {
    // Key and payload stand side by side in the change set.
    let row = operation.row
    try row.withUnsafeBytes(EncodedRow.check)
    try row.withUnsafeBytes { try table.rows.insert(encoded: $0) }
    references.check(operation, in: table)
  }

  private func delete(_ operation: Operation, _ table: MergeTable, _ images: inout ByteWriter) throws {
    try delete(operation.key, table, &images)
  }

  private func delete(_ key: ArraySlice<UInt8>, _ table: MergeTable, _ images: inout ByteWriter) throws {
    guard let values = try table.rows.values(key) else { throw Self.absent(table) }
    for value in values { images.value(value) }
    try table.rows.delete(key)
    try references.departed(RowKey(table: table.number, key: key), from: table)
  }

  private func leave(
    _ operation: Operation, _ table: MergeTable, _ changes: ChangeSet, _ images: inout ByteWriter
  ) throws {
    try delete(operation.movement(in: changes.tables[operation.table]).previousKey, table, &images)
  }

  private func arrive(_ operation: Operation, _ table: MergeTable, _ changes: ChangeSet) throws {
    let values = try operation.cells(in: changes.tables[operation.table]).map(\.value)
    try table.rows.insert(operation.key, values)
    references.check(operation, in: table)
  }

  private func update(_ operation: Operation, _ table: MergeTable, _ changes: ChangeSet) throws {
    let cells = try operation.cells(in: changes.tables[operation.table])
    let assigned = try resolved(cells, operation, table) { try table.rows.values(operation.key) }
    guard try table.rows.update(operation.key, assigned) else { throw Self.absent(table) }
    if cells.contains(where: { table.referenceColumns.contains($0.column) }) { references.check(operation, in: table) }
  }

  /// What the columns hold afterwards: relative cells are applied to what is there.
  private func resolved(
    _ cells: [Cell], _ operation: Operation, _ table: MergeTable, current: () throws -> [Value]?
  ) throws -> [(column: Int, value: Value)] {
    var row: [Value]?
    return try cells.map { cell in
      guard table.rules.policy(of: cell.column).isRelative else { return (cell.column, cell.value) }
      if row == nil { row = try current() }
      guard let before = row?[cell.column - table.definition.keyCount] else { throw Self.absent(table) }
      return (cell.column, try table.rules.value(of: cell, appliedTo: before))
    }
  }

  private func touchesUnique(_ operation: Operation, _ table: MergeTable, _ changes: ChangeSet) throws -> Bool {
    guard !table.uniqueIndexes.isEmpty else { return false }
    return try operation.cells(in: changes.tables[operation.table]).contains { table.uniqueColumns.contains($0.column) }
  }

  private func takeOut(_ operation: Operation, _ table: MergeTable, _ changes: ChangeSet) throws -> [Value] {
    guard var values = try table.rows.values(operation.key) else { throw Self.absent(table) }
    let cells = try operation.cells(in: changes.tables[operation.table])
    for (column, value) in try resolved(cells, operation, table, current: { values }) {
      values[column - table.definition.keyCount] = value
    }
    try table.rows.delete(operation.key)
    return values
  }

  static func absent(_ table: MergeTable) -> GodwitError {
    GodwitError(.corruptFile, "a change of table \(table.definition.name) is of a row that its author cannot have had")
  }
}
