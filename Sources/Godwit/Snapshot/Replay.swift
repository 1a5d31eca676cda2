import GodwitBase
import GodwitReplication

/// Makes a replica's own unsent work anew on top of another state, as one ordinary transaction (Specs/snapshot.md,
/// "The way back"). What cannot be done any more is kept in the conflict log; nothing deleted comes back.
struct Replay {
  private let writer: ReplicaWriter
  private let tables: MergeTables
  private let conflicts: ConflictLog

  init(_ writer: ReplicaWriter) {
    self.writer = writer
    tables = MergeTables(writer.connection, catalog: writer.catalog, functions: writer.mergeFunctions)
    conflicts = ConflictLog(writer.connection, origins: writer.log.origins)
  }

  /// Runs inside the import's transaction, in which nothing else is captured.
  func run(_ records: [TransactionRecord]) throws {
    var written: Set<RowKey> = []
    try writer.captured {
      for record in records {
        let changes = try ChangeSet(record.changes[...])
        let mappings = try changes.tables.map { try ColumnMapping($0, in: tables.catalog) }
        let stamp = CellStamp(hlc: record.hlc, dot: record.dot)
        try changes.forEach { operation in
          let mapping = mappings[operation.table]
          let cells = try mapping.map(operation.cells(in: changes.tables[operation.table]))
          let key = RowKey(table: mapping.table.id, key: operation.key)
          let table = try tables[mapping.table.id]
          if operation.kind == .move {
            // Where it was, it goes; where it is, it is as it was when it came.
            let previous = try operation.movement(in: changes.tables[operation.table]).previousKey
            let old = RowKey(table: table.number, key: previous)
            try apply(.delete, [], stamp, to: old, in: table)
            written.insert(old)
          }
          try apply(operation.kind, cells, stamp, to: key, in: table)
          written.insert(key)
        }
      }
    }
    // What the new state makes of references and of rows in limbo.
    try writer.merger().settleLocalWrites(to: written)
  }

  private func apply(
    _ kind: OperationKind, _ cells: [Cell], _ stamp: CellStamp, to key: RowKey, in table: MergeTable
  ) throws {
    let current = try table.rows.values(key.key)
    do {
      switch (kind, current) {
      case (.insert, nil), (.move, nil):
        var values = table.defaults
        for cell in cells { values[cell.column - table.definition.keyCount] = cell.value }
        try table.rows.insert(key.key, values)
      case (.insert, let current?), (.move, let current?):
        let differing = cells.filter { current[$0.column - table.definition.keyCount] != $0.value }
        if !differing.isEmpty { try table.rows.update(key.key, differing.map { ($0.column, $0.value) }) }
      case (.update, let current?):
        try table.rows.update(key.key, cells.map { cell in
          let before = current[cell.column - table.definition.keyCount]
          return (cell.column, try table.rules.value(of: cell, appliedTo: before))
        })
      case (.update, nil): try keep(cells, of: key, stamp, .edit, in: table)
      case (.delete, _): if current != nil { try table.rows.delete(key.key) }
      }
    } catch let error as GodwitError where error.code == .constraint {
      try keep(cells, of: key, stamp, .constraint, in: table)
    }
  }

  private func keep(
    _ cells: [Cell], of key: RowKey, _ stamp: CellStamp, _ kind: Conflict.Kind, in table: MergeTable
  ) throws {
    for cell in cells {
      _ = try conflicts.add(
        ConflictEntry(
          kind: kind, row: key, columns: [table.definition.columns[cell.column].name], values: [cell.value],
          winningValues: [.null], loser: stamp, winner: nil))
    }
  }
}
