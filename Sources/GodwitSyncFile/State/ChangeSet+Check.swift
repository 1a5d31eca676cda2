import GodwitBase
import GodwitCore

extension ChangeSet {
  /// Refuses what nobody writes: no operations, two on one row, or values that no database may hold. A frame's change
  /// sets are checked while they are restored; those of a state file come as they are.
  ///
  /// Returns how many values the cells of the rows have that it deletes.
  func check() throws -> Int {
    guard operationCount > 0 else { throw ByteReader.malformed("a transaction without operations") }
    try expectDistinctTables()
    var deletedCellCount = 0
    var rows = DistinctRows()
    let relative = tables.map { Set($0.columns.filter(\.isRelative).map(\.index)) }
    func checkKey(_ key: ArraySlice<UInt8>, of number: Int) throws {
      try key.withUnsafeBytes(EncodedRow.check)
      var reader = ByteReader(key)
      while !reader.isAtEnd {
        guard try reader.value() != .null else { throw ByteReader.malformed("a key of NULL") }
      }
      try rows.insert(key, table: number)
    }
    let named = tables.map { Set($0.columns.map(\.index)) }
    try forEach { operation in
      let table = tables[operation.table]
      try checkKey(operation.key, of: operation.table)
      for cell in try operation.cells(in: table) where relative[operation.table].contains(cell.column) {
        try RelativeValue.check(cell.value, in: operation.kind)
      }
      switch operation.kind {
      case .insert:
        guard table.isWhole else { throw ByteReader.malformed("a row of columns without a name") }
        _ = try operation.cells(in: table)
      case .update:
        guard try operation.cells(in: table).allSatisfy({ named[operation.table].contains($0.column) }) else {
          throw ByteReader.malformed("a column without a name")
        }
      case .delete: deletedCellCount += table.columnCount - table.keyCount
      }
    }
    return deletedCellCount
  }
}
