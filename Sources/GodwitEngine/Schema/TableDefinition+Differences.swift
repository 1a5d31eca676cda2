import GodwitModel
import GodwitCore

extension TableDefinition {
  /// What must change in `stored` to become this table. Neither the order of columns nor defaults are compared: a
  /// property's default is code, and acts only on rows that were written without the column.
  func differences(from stored: TableDefinition) -> [TableDifference] {
    columnDifferences(from: stored) + keyDifferences(from: stored) + indexDifferences(from: stored)
      + scopeDifferences(from: stored)
  }

  private func columnDifferences(from stored: TableDefinition) -> [TableDifference] {
    var differences: [TableDifference] = []
    let ours = Dictionary(uniqueKeysWithValues: columns.map { ($0.name.lowercased(), $0) })
    let theirs = Dictionary(uniqueKeysWithValues: stored.columns.map { ($0.name.lowercased(), $0) })
    for column in columns {
      guard let other = theirs[column.name.lowercased()] else {
        differences.append(.missingColumn(column))
        continue
      }
      let words = column.differences(from: other).map { "column \(column.name) \($0)" }
      if !words.isEmpty {
        differences.append(.changedColumn(column, from: other, words.joined(separator: "; ")))
      }
    }
    for column in stored.columns where ours[column.name.lowercased()] == nil {
      differences.append(.extraColumn(column))
    }
    return differences
  }

  private func keyDifferences(from stored: TableDefinition) -> [TableDifference] {
    let (ours, theirs) = (columns.prefix(keyCount).map(\.name), stored.columns.prefix(stored.keyCount).map(\.name))
    guard ours != theirs else { return [] }
    func list(_ names: [String]) -> String { "(\(names.joined(separator: ", ")))" }
    return [.changed("the primary key is \(list(theirs)) in the database and \(list(ours)) in the model")]
  }

  private func indexDifferences(from stored: TableDefinition) -> [TableDifference] {
    func byName(_ table: TableDefinition) -> [String: IndexDefinition] {
      Dictionary(table.indexes.map { (table.indexName($0), $0) }, uniquingKeysWith: { first, _ in first })
    }
    let (ours, theirs) = (byName(self), byName(stored))
    var differences: [TableDifference] = []
    for (name, index) in ours.sorted(by: { $0.key < $1.key }) {
      guard let other = theirs[name] else {
        // Which of equal rows is shown then is for all replicas to judge, by a migration.
        differences.append(.missingIndex(index, name: name, mayBeAdded: !(index.isUnique && isSynced)))
        continue
      }
      if index.isUnique != other.isUnique {
        differences.append(.changed("index \(name) is unique only in the \(index.isUnique ? "model" : "database")"))
      }
    }
    let extra = theirs.filter { ours[$0.key] == nil }.sorted { $0.key < $1.key }
    return differences + extra.map { .extraIndex($0.value, name: $0.key) }
  }

  private func scopeDifferences(from stored: TableDefinition) -> [TableDifference] {
    var differences: [TableDifference] = []
    if isSynced != stored.isSynced {
      differences.append(.otherScope(isSyncedInModel: isSynced))
    }
    if deletes != stored.deletes {
      differences.append(
        .changed("concurrent deletes and edits: \(stored.deletes) in the database, \(deletes) in the model"))
    }
    if numbersKeys != stored.numbersKeys {
      differences.append(.changed("the rows are numbered only in the \(numbersKeys ? "model" : "database")"))
    }
    return differences
  }
}

extension ColumnDefinition {
  /// What to say of the column.
  fileprivate func differences(from stored: ColumnDefinition) -> [String] {
    var differences: [String] = []
    if name != stored.name { differences.append("is called \(stored.name) in the database") }
    if type != stored.type { differences.append("is \(stored.type) in the database and \(type) in the model") }
    if isNullable != stored.isNullable {
      differences.append("is optional only in the \(isNullable ? "model" : "database")")
    }
    if reference != stored.reference {
      differences.append("refers to \(stored.target) in the database and to \(target) in the model")
    }
    if check != stored.check {
      differences.append("is checked by \(stored.checkText) in the database and by \(checkText) in the model")
    }
    if merge != stored.merge {
      differences.append("is merged as \(stored.merge.name) in the database and as \(merge.name) in the model")
    }
    return differences
  }

  private var target: String {
    reference.map { "\($0.table) (\($0.onDelete)\($0.isAcyclic ? ", acyclic" : ""))" } ?? "nothing"
  }
  private var checkText: String { check.map { "(\($0))" } ?? "nothing" }
}
