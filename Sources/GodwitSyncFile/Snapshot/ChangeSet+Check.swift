import GodwitBase
import GodwitReplication

extension ChangeSet {
  /// Refuses what nobody writes: no operations, or values that no database may hold. A frame's change sets are checked
  /// while they are restored; those of a snapshot come as they are.
  ///
  /// Returns how many values the images of the rows have that it deletes and moves.
  func check() throws -> Int {
    guard operationCount > 0 else { throw ByteReader.malformed("a transaction without operations") }
    var imageValueCount = 0
    try forEach { operation in
      let table = tables[operation.table]
      try operation.key.withUnsafeBytes(EncodedRow.check)
      switch operation.kind {
      case .insert, .move:
        if operation.kind == .move { imageValueCount += table.columnCount - table.keyCount }
        guard table.isWhole else { throw ByteReader.malformed("a row of columns without a name") }
        if operation.kind == .move {
          try operation.movement(in: table).previousKey.withUnsafeBytes(EncodedRow.check)
        }
        _ = try operation.cells(in: table)
      case .update:
        let named = Set(table.columns.map(\.index))
        guard try operation.cells(in: table).allSatisfy({ named.contains($0.column) }) else {
          throw ByteReader.malformed("a column without a name")
        }
      case .delete: imageValueCount += table.columnCount - table.keyCount
      }
    }
    return imageValueCount
  }
}
