import GodwitBase
import GodwitModel
import GodwitCore

/// Works out what several writes to a row amount to, from what the row was before the first and is after the last.
///
/// A row that came and went leaves nothing; one that went and came back is an update of the columns that differ.
struct NetChanges {
  private struct Key: Hashable {
    let table: Int
    let key: ArraySlice<UInt8>
  }

  private struct RowChange {
    /// Old values by column, for those known to have changed; all of them for a row that was deleted.
    var before: [Int: Value] = [:]
    var after: [Int: Value] = [:]
    var existedBefore: Bool
    var existsAfter: Bool
    /// Inserts less deletes: with what the row is now, it gives what it was before, in whatever order they came.
    var balance = 0
  }

  private var changes: [Key: RowChange] = [:]
  private var order: [Key] = []

  /// `table` is as it was when the operation was captured, `number` its place among those of the whole transaction.
  mutating func add(_ operation: Operation, old: ArraySlice<UInt8>, table: ChangeSet.Table, number: Int) throws {
    let key = Key(table: number, key: operation.key)
    var change = changes[key] ?? RowChange(existedBefore: operation.kind != .insert, existsAfter: true)
    if changes[key] == nil { order.append(key) }
    var oldReader = ByteReader(old)
    switch operation.kind {
    case .insert:
      change.existsAfter = true
      change.balance += 1
      change.after = try Self.values(operation, table)
    case .update:
      for cell in try operation.cells(in: table) {
        let oldValue = try oldReader.value()
        if change.existedBefore, change.before[cell.column] == nil { change.before[cell.column] = oldValue }
        change.after[cell.column] = cell.value
      }
    case .delete:
      change.existsAfter = false
      change.balance -= 1
      for column in table.keyCount..<table.columnCount {
        let oldValue = try oldReader.value()
        if change.existedBefore, change.before[column] == nil { change.before[column] = oldValue }
      }
    }
    changes[key] = change
  }

  private static func values(_ operation: Operation, _ table: ChangeSet.Table) throws -> [Int: Value] {
    Dictionary(uniqueKeysWithValues: try operation.cells(in: table).map { ($0.column, $0.value) })
  }

  /// Corrects the rows of a table by what they are now. A program's trigger that writes the row it was fired by is
  /// captured ahead of the write that fired it, because SQLite fires the newest trigger first.
  mutating func settle(
    table number: Int, keyCount: Int, columnCount: Int, current: (ArraySlice<UInt8>) throws -> [Value]?
  ) throws {
    for key in order where key.table == number {
      guard var change = changes[key] else { continue }
      let values = try current(key.key)
      change.existsAfter = values != nil
      change.existedBefore = (values == nil ? 0 : 1) - change.balance > 0
      if let values {
        let isWhole = !change.existedBefore || change.balance != 0 || change.after.count == values.count
        for column in keyCount..<columnCount where isWhole || change.after[column] != nil {
          change.after[column] = values[column - keyCount]
        }
      }
      changes[key] = change
    }
  }

  /// The operations, in the order in which their rows were first written, and the cells of deleted rows.
  func encoded(
    _ tables: [ChangeSet.Table], definitions: [TableDefinition], _ hashes: [TableHash]
  ) throws -> (operations: [UInt8], deletedCells: [UInt8], count: Int, sums: [StateSum]) {
    var sums = hashes.map { _ in StateSum.zero }
    var operations = ByteWriter()
    var deletedCells = ByteWriter()
    var count = 0
    for key in order {
      guard let change = changes[key] else { continue }
      let table = tables[key.table]
      let hash = hashes[key.table]
      /// What the row has in a column that was added after it was written.
      func added(_ column: Int) -> Value { definitions[key.table].columns[column].defaultValue ?? .null }
      func head(_ kind: OperationKind) {
        operations.varint(Operation.head(table: key.table, kind: kind))
        operations.raw(key.key)
        count += 1
      }
      switch (change.existedBefore, change.existsAfter) {
      case (false, false): break
      case (false, true):
        head(.insert)
        for column in table.keyCount..<table.columnCount { operations.value(change.after[column] ?? added(column)) }
        sums[key.table] += hash.row(key.key, (table.keyCount..<table.columnCount).map { change.after[$0] ?? added($0) })
      case (true, true):
        sums[key.table] += Self.difference(change, hash, hash.key(key.key))
        let changed = try Self.updates(change, of: key.key, definitions[key.table])
        guard !changed.isEmpty else { break }
        head(.update)
        operations.varint(changed.count)
        for (column, value) in changed {
          operations.varint(column)
          operations.value(value)
        }
      case (true, false):
        head(.delete)
        for column in table.keyCount..<table.columnCount { deletedCells.value(change.before[column] ?? added(column)) }
        let columns = table.keyCount..<table.columnCount
        sums[key.table] -= hash.row(key.key, columns.map { change.before[$0] ?? added($0) })
      }
    }
    return (operations.bytes, deletedCells.bytes, count, sums)
  }

  /// What an update adds to the table's sum. What is known from the whole row only, and was not written, has not
  /// changed.
  private static func difference(_ change: RowChange, _ hash: TableHash, _ key: TableHash.Key) -> StateSum {
    change.after.reduce(into: StateSum.zero) { sum, cell in
      guard let before = change.before[cell.key], before != cell.value else { return }
      sum += hash.cell(cell.key, key, cell.value)
      sum -= hash.cell(cell.key, key, before)
    }
  }

  /// The columns that differ, with what an update carries of each.
  private static func updates(
    _ change: RowChange, of key: ArraySlice<UInt8>, _ definition: TableDefinition
  ) throws -> [(column: Int, value: Value)] {
    let changed = change.after.filter { change.before[$0.key] != $0.value }.sorted { $0.key < $1.key }
    return try changed.compactMap { column, value in
      let policy = definition.columns[column].merge
      guard policy.isRelative else { return (column, value) }
      // What is known from the whole row only, and was not written, has not changed.
      guard let before = change.before[column] else { return nil }
      guard let difference = try relative(from: before, to: value, policy) else {
        throw GodwitError.integerOverflow(
          of: definition.columns[column].name, table: definition.name, key: try [Value](encoded: key).described)
      }
      return (column, difference)
    }
  }

  /// What an update of a counter or set says; nil when the difference of two counts is beyond 64 bits.
  private static func relative(from before: Value, to after: Value, _ policy: MergePolicy) throws -> Value? {
    if policy == .counter, case .integer(let old) = before, case .integer(let new) = after {
      let (difference, overflows) = new.subtractingReportingOverflow(old)
      return overflows ? nil : .integer(difference)
    }
    if policy == .addWinsSet, let old = SetElements.parse(before), let new = SetElements.parse(after) {
      return SetChange(from: old, to: new).value
    }
    throw GodwitError(.damagedLog, "a counter or set holds a value of another kind")
  }
}
