import GodwitReplication

extension ChangeSet {
  /// The rows that it writes, those that were moved under both keys.
  ///
  /// - Parameter numbers: What its tables are here; nil for one that is not here.
  func rows(in numbers: [Int?]) throws -> [RowKey] {
    var rows: [RowKey] = []
    try forEach { operation in
      guard let table = numbers[operation.table] else { return }
      rows.append(RowKey(table: table, key: operation.key))
      if operation.kind == .move {
        rows.append(RowKey(table: table, key: try operation.movement(in: tables[operation.table]).previousKey))
      }
    }
    return rows
  }
}
