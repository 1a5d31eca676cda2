import GodwitReplication

extension TableDefinition {
  /// What must change in `stored` to become this table, in words. Defaults are not compared: they act only on
  /// rows that other programs' columns left out.
  func differences(from stored: TableDefinition) -> [String] {
    var differences: [String] = []
    let ours = Dictionary(uniqueKeysWithValues: columns.map { ($0.name, $0) })
    let theirs = Dictionary(uniqueKeysWithValues: stored.columns.map { ($0.name, $0) })
    for column in columns {
      guard let other = theirs[column.name] else {
        differences.append("column \(column.name) is missing in the database")
        continue
      }
      differences += column.differences(from: other)
    }
    for column in stored.columns where ours[column.name] == nil {
      differences.append("column \(column.name) is not in the model")
    }
    if columns.prefix(keyCount).map(\.name) != stored.columns.prefix(stored.keyCount).map(\.name) {
      differences.append("the primary key is another")
    }
    if Set(indexes) != Set(stored.indexes) { differences.append("the indexes are others") }
    if isSynced != stored.isSynced { differences.append("the model's sync scope is another") }
    return differences
  }
}

extension ColumnDefinition {
  fileprivate func differences(from stored: ColumnDefinition) -> [String] {
    var differences: [String] = []
    if type != stored.type {
      differences.append("column \(name) is \(stored.type) in the database and \(type) in the model")
    }
    if isNullable != stored.isNullable {
      differences.append("column \(name) is \(isNullable ? "optional only in the model" : "optional only in the database")")
    }
    if reference != stored.reference { differences.append("column \(name) refers to another table or in another way") }
    return differences
  }
}
