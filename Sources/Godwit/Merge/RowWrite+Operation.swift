import GodwitBase
import GodwitReplication

extension RowWrite {
  /// What an operation writes.
  static func of(
    _ operation: Operation, _ remote: ChangeSet.Table, _ mapping: ColumnMapping, _ stamp: CellStamp,
    _ context: VersionVector
  ) throws -> (key: RowKey, write: RowWrite) {
    let cells = try mapping.map(operation.cells(in: remote))
    let write = RowWrite(kind: operation.kind, stamp: stamp, context: context, cells: cells)
    return (try mapping.table.row(operation.key), write)
  }
}
