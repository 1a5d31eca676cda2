import GodwitBase
import GodwitCore

/// Makes a replica's own unsent work anew on top of another state, as one ordinary transaction (Specs/state-file.md,
/// "The way back"). What cannot be done any more is kept in the conflict log; nothing deleted comes back.
/// Transactions come in the order of their causes.
final class Replay {
  private let writer: ReplicaWriter
  private let tables: MergeTables
  private let places: RowPlaces
  private var conflicts: ConflictLog
  /// What was written before a migration is made anew in the terms of the tables there are now. Of a column that its
  /// author had not got it says nothing.
  private let adapter: SchemaAdapter
  /// By row, the columns whose references have no effect from the start, for what else was written did not let them
  /// be taken back in the end.
  private var refused: [RowKey: Set<Int>] = [:]
  /// The inserts and updates of each row, where a machine and its copy have made them.
  private var touches: [RowKey: [Touch]] = [:]

  init(_ writer: ReplicaWriter) throws {
    self.writer = writer
    adapter = SchemaAdapter(writer.connection, writer.catalog, completingInserts: false)
    tables = MergeTables(writer.connection, catalog: writer.catalog, functions: writer.mergeFunctions)
    places = try RowPlaces(writer.connection, tables: tables, origins: writer.log.origins)
    conflicts = ConflictLog(writer.connection, origins: writer.log.origins)
  }

  /// Runs inside the import's transaction, in which nothing else is captured.
  func run(_ transactions: [LogOrder.Entry]) throws {
    if Set(transactions.map(\.record.dot.origin)).count > 1 { try noteTouches(transactions) }
    var written: [RowKey: OwnWrites] = [:]
    try writer.captured { written = try makeAnew(transactions) }
    // What the new state makes of references and of rows in limbo.
    try writer.merger().settleLocalWrites(to: Set(written.keys))
  }

  /// An insert or update, and what its author held with it.
  private struct Touch {
    let dot: Dot
    let context: VersionVector
  }

  private func noteTouches(_ transactions: [LogOrder.Entry]) throws {
    for transaction in transactions where try adapter.terms(of: transaction.record).awaited == nil {
      let touch = Touch(dot: transaction.record.dot, context: transaction.context)
      try adapter.forEachWrite(of: transaction.record, context: transaction.context) { key, write in
        if write.kind != .delete { touches[key, default: []].append(touch) }
      }
    }
  }

  /// Whether nothing that neither has seen the delete nor was seen by it keeps the row, or deletes win.
  private func goes(_ key: RowKey, by delete: RowWrite, _ rules: RowRules) -> Bool {
    let isKept = touches[key, default: []].contains { touch in
      !delete.context.covers(touch.dot) && !touch.context.covers(delete.stamp.dot)
    }
    return !isKept || rules.deletes == .deleteWins
  }

  /// Begins again without a reference that closes a circle and cannot be taken back: with what else was written to its
  /// row, what it was may be a unique value that another row has. Without it that is refused like any other write.
  private func makeAnew(_ transactions: [LogOrder.Entry]) throws -> [RowKey: OwnWrites] {
    while true {
      do {
        return try writer.connection.savepoint {
          // It remembers where it keeps what, and what is taken back is nowhere.
          conflicts = ConflictLog(writer.connection, origins: writer.log.origins)
          let written = try write(transactions)
          try openCircles(written)
          return written
        }
      } catch let reference as StuckReference {
        // A trigger of the program's own may write it again and again.
        guard refused[reference.row, default: []].insert(reference.column).inserted else { throw reference.refusal }
      }
    }
  }

  /// A reference that closes a circle, and why it cannot be what it is in the new state.
  private struct StuckReference: Error {
    let row: RowKey
    let column: Int
    let refusal: GodwitError
  }

  private func write(_ transactions: [LogOrder.Entry]) throws -> [RowKey: OwnWrites] {
    var written: [RowKey: OwnWrites] = [:]
    for transaction in transactions {
      if let awaited = try adapter.terms(of: transaction.record).awaited {
        throw GodwitError(
          .needsMigration, "own unsent changes use \(awaited), which the tables lack",
          hint: "nothing was changed; let the state file's sender migrate first, and make another")
      }
      try adapter.forEachWrite(of: transaction.record, context: transaction.context) { key, write in
        let table = try tables[key.table]
        let current = try table.rows.values(key.key)
        var row = written[key] ?? OwnWrites(on: current, stamp: write.stamp)
        let cells = try row.take(write, on: current, in: table)
        written[key] = row
        try apply(write, cells, to: key, on: current, from: row.before, in: table)
      }
    }
    return written
  }

  /// A reference that the new state does not allow, since it would close a circle, has no effect: the cell is what it
  /// is there.
  private func openCircles(_ written: [RowKey: OwnWrites]) throws {
    guard let circles = writer.circles else { return }
    var isChanging = true
    while isChanging {
      isChanging = false
      for (key, row) in written.sorted(by: { $0.key < $1.key }) {
        let table = try tables[key.table]
        let keyCount = table.definition.keyCount
        for column in try circles.circles(through: key, table.definition) {
          guard let value = try table.rows.values(key.key)?[column - keyCount],
            case let old = old(column, row.before, table), old != value
          else { continue }
          try add([Cell(column: column, value: value)], of: key, row.stamp, .constraint, in: table)
          do {
            try table.rows.update(key.key, [(column, old)])
          } catch let error as GodwitError where error.code == .constraint {
            throw StuckReference(row: key, column: column, refusal: error)
          }
          isChanging = true
        }
      }
    }
  }

  /// `before` is the row in the new state.
  private func apply(
    _ write: RowWrite, _ cells: [Cell], to key: RowKey, on current: [Value]?, from before: [Value]?,
    in table: MergeTable
  ) throws {
    let (kind, stamp) = (write.kind, write.stamp)
    guard try writer.clock.canPass(key) else {
      return try keepRefused(kind, cells, on: current, of: key, stamp, in: table)
    }
    do {
      switch (kind, current) {
      case (.insert, nil):
        // A row that own work deletes and brings back is an edit of the one in the new state.
        let (reached, beyond) = split(cells, of: key, from: before, in: table)
        var values = table.defaults
        for cell in beyond {
          let place = cell.column - table.definition.keyCount
          values[place] = before?[place] ?? values[place]
        }
        for cell in reached { values[cell.column - table.definition.keyCount] = cell.value }
        for column in refused[key] ?? [] { values[column - table.definition.keyCount] = old(column, before, table) }
        try table.rows.insert(key.key, values)
        try keep(beyond, of: key, stamp, .constraint, in: table)
      case (.insert, let current?):
        let differing = cells.filter { current[$0.column - table.definition.keyCount] != $0.value }
        try update(key, differing, stamp, from: before, in: table)
      case (.update, _) where cells.isEmpty:
        // All that it wrote was to columns that there are no more.
        break
      case (.update, let current?):
        try update(key, outcome(of: cells, on: current, table), stamp, from: before, in: table)
      case (.update, nil): try keep(outcome(of: cells, on: table.defaults, table), of: key, stamp, .edit, in: table)
      case (.delete, nil):
        // In limbo it may be shown one day, though who deleted it has seen it.
        if try places.load(key) != nil { try add([], of: key, stamp, .delete, in: table) }
      case (.delete, _): if goes(key, by: write, table.rules) { try table.rows.delete(key.key) }
      }
    } catch let error as GodwitError where error.code == .constraint {
      try keepRefused(kind, cells, on: current, of: key, stamp, in: table)
    }
  }

  /// What a constraint refuses, or a row that somebody has written to at the end of time.
  private func keepRefused(
    _ kind: OperationKind, _ cells: [Cell], on current: [Value]?, of key: RowKey, _ stamp: CellStamp,
    in table: MergeTable
  ) throws {
    switch kind {
    case .update:
      try keep(outcome(of: cells, on: current ?? table.defaults, table), of: key, stamp, .constraint, in: table)
    // A row that is not there can come only whole.
    case .insert: try add(cells, of: key, stamp, .constraint, in: table)
    case .delete: if current != nil { try add([], of: key, stamp, .delete, in: table) }
    }
  }

  /// Writes what a counter can come to from where it is in the new state; the rest is kept like what a constraint
  /// refuses.
  private func update(
    _ key: RowKey, _ cells: [Cell], _ stamp: CellStamp, from before: [Value]?, in table: MergeTable
  ) throws {
    let (reached, beyond) = split(cells, of: key, from: before, in: table)
    if !reached.isEmpty { try table.rows.update(key.key, reached.map { ($0.column, $0.value) }) }
    try keep(beyond, of: key, stamp, .constraint, in: table)
  }

  /// What a cell holds in the new state; NULL where the row is not there.
  private func old(_ column: Int, _ before: [Value]?, _ table: MergeTable) -> Value {
    before?[column - table.definition.keyCount] ?? .null
  }

  /// Cells that one difference leads to from the row in the new state; counters that none does, and refused references.
  private func split(
    _ cells: [Cell], of key: RowKey, from before: [Value]?, in table: MergeTable
  ) -> (reached: [Cell], beyond: [Cell]) {
    func isBeyond(_ cell: Cell) -> Bool {
      if refused[key]?.contains(cell.column) == true { return cell.value != old(cell.column, before, table) }
      guard table.rules.policy(of: cell.column) == .counter, case .integer(let new) = cell.value,
        case .integer(let old)? = before?[cell.column - table.definition.keyCount]
      else { return false }
      return new.subtractingReportingOverflow(old).overflow
    }
    return (cells.filter { !isBeyond($0) }, cells.filter(isBeyond))
  }

  /// What is added to a count or set can be written again only as what it would have made of it.
  private func outcome(of cells: [Cell], on values: [Value], _ table: MergeTable) throws -> [Cell] {
    try cells.map { cell in
      let before = values[cell.column - table.definition.keyCount]
      return Cell(column: cell.column, value: try table.rules.value(of: cell, appliedTo: before))
    }
  }

  /// Each by itself, so that it can be restored by itself.
  private func keep(
    _ cells: [Cell], of key: RowKey, _ stamp: CellStamp, _ kind: Conflict.Kind, in table: MergeTable
  ) throws {
    for cell in cells { try add([cell], of: key, stamp, kind, in: table) }
  }

  private func add(
    _ cells: [Cell], of key: RowKey, _ stamp: CellStamp, _ kind: Conflict.Kind, in table: MergeTable
  ) throws {
    _ = try conflicts.add(
      ConflictEntry(
        kind: kind, row: key, columns: cells.map { table.definition.columns[$0.column].name },
        values: cells.map(\.value), winningValues: cells.map { _ in .null }, loser: stamp, winner: nil))
  }
}
