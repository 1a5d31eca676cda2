import GodwitReplication

extension ChangeSet {
  /// The rows that it writes.
  ///
  /// - Parameters:
  ///   - tables: What its tables are here; nil for one that is not here.
  ///   - waiting: The operations that are asked for; all without.
  func rows(in tables: [CatalogTable?], only waiting: WaitingOperations? = nil) throws -> [RowKey] {
    var rows: [RowKey] = []
    var place = 0
    try forEach { operation in
      defer { place += 1 }
      if let waiting, waiting.columns[place] == nil { return }
      guard let table = tables[operation.table] else { return }
      rows.append(try table.row(operation.key))
    }
    return rows
  }
}
