import GodwitBase
import GodwitModel
import GodwitCore
import GodwitStorage

/// Writes again what lost (Specs/explaining.md, "Restoring"): captured like any other write, and as new.
package struct ConflictRestorer {
  private let writer: ReplicaWriter
  private let transaction: Transaction
  private let tables: MergeTables
  private let rows: RowHistory
  /// What documents expire by, in milliseconds since 1970 UTC.
  private let now: Int64

  package init(_ writer: ReplicaWriter, _ transaction: Transaction, now: Int64) throws {
    self.writer = writer
    self.now = now
    self.transaction = transaction
    rows = try RowHistory(writer.connection, log: writer.log, catalog: writer.catalog)
    tables = rows.tables
  }

  /// Returns whether anything had to be written.
  package func restore(_ conflict: Conflict) throws -> Bool {
    guard let table = try tables.named(conflict.table) else {
      throw GodwitError(.notInSchema, "table \(conflict.table) is not synced any more")
    }
    let key = RowKey(table: table.number, key: conflict.key.encoded[...])
    switch conflict.kind {
    case .edit: return try restoreEdit(conflict, key, table)
    case .delete: return try delete(key, table)
    // What rejoining could not write anew waits nowhere.
    case .constraint where !conflict.columns.isEmpty: return try restoreEdit(conflict, key, table)
    case .unique, .reference, .constraint:
      if let reason = try rows.limboRow(key)?.reasons.first(where: { $0.kind.isOf(conflict.kind) }) {
        throw Self.waits(reason.kind, table)
      }
      return false
    }
  }

  private func restoreEdit(_ conflict: Conflict, _ key: RowKey, _ table: MergeTable) throws -> Bool {
    let lost = try zip(cells(of: conflict, table), conflict.losingValues).map(Cell.init)
    if let values = try table.rows.values(key.key) {
      guard lost.contains(where: { values[$0.column - table.definition.keyCount] != $0.value }) else { return false }
      let restored = Self.values(values, with: lost, table, now: now)
      let changed = values.indices.filter { values[$0] != restored[$0] }
      try update(key, changed.map { Cell(column: $0 + table.definition.keyCount, value: restored[$0]) }, table)
      return !changed.isEmpty
    }
    let hiddenCells = try rows.fold.state(of: key)?.hiddenCells
    guard hiddenCells != nil || !conflict.needsHiddenCells else {
      throw GodwitError(
        .notFound, "the row of table \(conflict.table) is gone, and its other columns are not remembered any more",
        hint: "insert it anew; the conflict shows the value that lost")
    }
    if let reason = try rows.limboRow(key)?.reasons.first { throw Self.waits(reason.kind, table) }
    try insert(key, Self.values(table.completed(hiddenCells ?? []), with: lost, table, now: now), table)
    return true
  }

  /// A row's values with what lost. A document that has expired comes back without its expiry, swept or not: nobody
  /// could read it otherwise.
  private static func values(_ values: [Value], with lost: [Cell], _ table: MergeTable, now: Int64) -> [Value] {
    var values = values
    for cell in lost { values[cell.column - table.definition.keyCount] = cell.value }
    if table.definition.isCollection, case .integer(let expiry)? = values.first, expiry <= now { values[0] = .null }
    return values
  }

  /// The numbers of the columns it is about.
  private func cells(of conflict: Conflict, _ table: MergeTable) throws -> [Int] {
    try conflict.columns.map { name in
      guard let column = table.definition.columns.firstIndex(where: { $0.name == name }) else {
        throw GodwitError(.notInSchema, "table \(conflict.table) has not the conflict's column any more")
      }
      return column
    }
  }

  private func insert(_ key: RowKey, _ values: [Value], _ table: MergeTable) throws {
    let bound = try ([Value](encoded: key.key) + values).prefix(TableRows.boundValueLimit)
    try transaction.execute(SQL(text: table.rows.insertSQL, values: Array(bound)))
    let rest = bound.count..<table.definition.columns.count
    try update(key, rest.map { Cell(column: $0, value: values[$0 - table.definition.keyCount]) }, table)
  }

  private func update(_ key: RowKey, _ cells: [Cell], _ table: MergeTable) throws {
    let keyValues = try [Value](encoded: key.key)
    for first in stride(from: 0, to: cells.count, by: table.rows.updateLimit) {
      let part = cells[first..<min(first + table.rows.updateLimit, cells.count)]
      try transaction.execute(
        SQL(text: table.rows.updateSQL(part.map(\.column)), values: part.map(\.value) + keyValues))
    }
  }

  private func delete(_ key: RowKey, _ table: MergeTable) throws -> Bool {
    guard try table.rows.contains(key.key) else {
      if let reason = try rows.limboRow(key)?.reasons.first { throw Self.waits(reason.kind, table) }
      return false
    }
    let name = SQLName.quoted(table.definition.name)
    let values = try [Value](encoded: key.key)
    try transaction.execute(
      SQL(text: "DELETE FROM \(name) WHERE \(table.definition.keyCondition)", values: values))
    return true
  }

  /// What only a write to another row can end.
  private static func waits(_ kind: LimboRow.Kind, _ table: MergeTable) -> GodwitError {
    let row = "the row of table \(table.definition.name)"
    switch kind {
    case .uniqueValue(let columns, _, _):
      return GodwitError(
        .inLimbo, "\(row) waits in limbo: another row holds its unique value of \(columns.joined(separator: ", "))",
        hint: "give that row another value, or delete it; this one appears then (see: godwit limbo)")
    case .missingParent(let column, let parent, _):
      return GodwitError(
        .inLimbo, "\(row) refers by \(column) to a row of table \(parent) that is not shown",
        hint: "insert that row, or release it from limbo; this one appears whole then (see: godwit limbo)")
    case .circle(let column):
      return GodwitError(
        .inLimbo, "\(row) would close a circle by \(column)",
        hint:
          "change the reference of another row of the circle; the reference shows its value again then (see: godwit limbo)"
      )
    case .constraint:
      return GodwitError(
        .inLimbo, "\(row) breaks a constraint of this replica",
        hint: "insert a row under its key that keeps the table's rules; it takes the place of the one that waits")
    }
  }
}

extension LimboRow.Kind {
  fileprivate func isOf(_ kind: Conflict.Kind) -> Bool {
    switch self {
    case .uniqueValue: kind == .unique
    case .missingParent, .circle: kind == .reference
    case .constraint: kind == .constraint
    }
  }
}

extension Conflict {
  /// Whether what lost says too little of its row to insert that anew. A row that never was here is all that it lost.
  var needsHiddenCells: Bool { kind == .edit && !columns.isEmpty }
}

extension RowHistory {
  /// Whether the row of a conflict is gone and too little of it is remembered to restore anything of it.
  package func lacksRow(of conflict: Conflict) throws -> Bool {
    guard conflict.needsHiddenCells, let table = try tables.named(conflict.table) else { return false }
    let key = RowKey(table: table.number, key: conflict.key.encoded[...])
    return try !table.rows.contains(key.key) && fold.state(of: key)?.hiddenCells == nil
  }
}
