import GodwitBase
import GodwitReplication

extension RowWrite {
  /// What an operation writes, by row: a move deletes one and inserts another.
  static func of(
    _ operation: Operation, _ remote: ChangeSet.Table, _ mapping: ColumnMapping, _ stamp: CellStamp,
    _ context: VersionVector
  ) throws -> [(key: RowKey, write: RowWrite)] {
    let key = try mapping.table.row(operation.key)
    let cells = try mapping.map(operation.cells(in: remote))
    guard operation.kind == .move else {
      return [(key, RowWrite(kind: operation.kind, stamp: stamp, context: context, cells: cells))]
    }
    let (previousKey, changed) = try operation.movement(in: remote)
    let changedHere = Set(try mapping.map(changed.map { Cell(column: $0, value: .null) }).map(\.column))
    let leaving = RowWrite(kind: .delete, stamp: stamp, context: context, cells: [], movedTo: Array(key.key))
    let arriving = RowWrite(kind: .move, stamp: stamp, context: context, cells: cells, changed: changedHere)
    return [(try mapping.table.row(previousKey), leaving), (key, arriving)]
  }
}
