import GodwitBase
import GodwitReplication
import GodwitStorage

/// Brings the row states up to date with the own transactions since the last fold. Local writes keep no state of
/// their own; they are folded in bulk before anything is merged (Specs/merge.md, "Folding").
struct StampFold {
  let connection: Connection
  let log: ChangeLog
  let catalog: Catalog

  private static let batchSize = 50_000

  func run() throws {
    let own = log.origins.own
    let folded = SequenceNumber(rawValue: UInt64(try Meta.integer(.folded, on: connection)))
    let head = try log.origins.head(of: own).sequence
    guard folded < head else { return }
    let states = RowStates(connection: connection, origins: log.origins)
    var batch: [RowKey: RowState] = [:]
    func save() throws {
      for (key, state) in batch.sorted(by: { $0.key < $1.key }) { try states.save(state, for: key) }
      batch.removeAll(keepingCapacity: true)
    }
    try log.forEach(of: own, after: folded) { record, images in
      var images = ByteReader(images)
      let context = try log.context(of: record.dot)
      let changes = try ChangeSet(record.changes[...])
      let mappings = try changes.tables.map { try ColumnMapping($0, in: catalog) }
      try changes.forEach { operation in
        let mapping = mappings[operation.table]
        let key = RowKey(table: mapping.table.id, key: operation.key)
        var merge = RowMerge(try batch[key] ?? states.load(key) ?? RowState())
        let cells = try mapping.map(operation.cells(in: changes.tables[operation.table]))
        let stamp = CellStamp(hlc: record.hlc, dot: record.dot)
        // The write is in the table already and saw everything here, so nothing can be lost.
        merge.apply(RowWrite(kind: operation.kind, stamp: stamp, context: context, cells: cells)) { _ in .null }
        var state = merge.state
        // The columns that the table had then; those added since come behind them.
        let columns = changes.tables[operation.table]
        state.image =
          operation.kind == .delete
          ? try (columns.keyCount..<columns.columnCount).map { _ in try images.value() } : nil
        batch[key] = state
      }
      if batch.count >= Self.batchSize { try save() }
    }
    try save()
    try Meta.set(.folded, .integer(Int64(head.rawValue)), on: connection)
  }
}
