import GodwitReplication

extension ChangeSet {
  /// The rows that it writes, those that were moved under both keys.
  ///
  /// - Parameters:
  ///   - numbers: What its tables are here; nil for one that is not here.
  ///   - waiting: The operations that are asked for; all without.
  func rows(in numbers: [Int?], only waiting: WaitingOperations? = nil) throws -> [RowKey] {
    var rows: [RowKey] = []
    var place = 0
    try forEach { operation in
      defer { place += 1 }
      if let waiting, waiting.columns[place] == nil { return }
      guard let table = numbers[operation.table] else { return }
      rows.append(RowKey(table: table, key: operation.key))
      if operation.kind == .move {
        rows.append(RowKey(table: table, key: try operation.movement(in: tables[operation.table]).previousKey))
      }
    }
    return rows
  }
}
