import GodwitBase
import GodwitModel
import GodwitCore
import GodwitStorage

extension SchemaRebuild {
  /// Makes an index, or leaves it to a merge.
  func prepare(_ index: IndexDefinition, of table: TableDefinition) throws {
    guard index.isUnique, table.isSynced else { return try make(index, of: table) }
    uniqueIndexes.append((table.name, index))
  }

  /// Makes an index, or names two rows that a unique one keeps apart.
  func make(_ index: IndexDefinition, of table: TableDefinition) throws {
    do {
      try connection.execute(table.creationStatement(index))
    } catch let error as GodwitError where error.code == .constraint {
      let keys = try equalRows(by: index, of: table)
      let rows = keys.map { "(\($0.map(\.literal).joined(separator: ", ")))" }.joined(separator: " and ")
      throw GodwitError(
        .constraint,
        "UNIQUE constraint failed: rows \(rows) of table \(table.name) hold the same in index "
          + "\(table.indexName(index)) (\(index.columns.joined(separator: ", ")))",
        hint: "nothing was altered; change one of the rows first, or have the rule distinguish them", underlying: error)
    }
  }

  /// The keys of two rows that a unique index keeps apart.
  private func equalRows(by index: IndexDefinition, of table: TableDefinition) throws -> [[Value]] {
    let name = SQLName.quoted(table.name)
    let columns = index.columns.map(SQLName.quoted)
    let list = columns.joined(separator: ", ")
    let isThere = columns.map { "\($0) IS NOT NULL" }.joined(separator: " AND ")
    let same = columns.map { "t.\($0) = e.\($0)" }.joined(separator: " AND ")
    let key = table.columns.prefix(table.keyCount).map { "t.\(SQLName.quoted($0.name))" }.joined(separator: ", ")
    let sql = """
      WITH e AS (SELECT \(list) FROM \(name) WHERE \(isThere) GROUP BY \(list) HAVING count(*) > 1 LIMIT 1)
      SELECT \(key) FROM \(name) t, e WHERE \(same) ORDER BY t.rowid LIMIT 2
      """
    return try connection.withStatement(sql) { statement in
      var keys: [[Value]] = []
      while try statement.step() { keys.append(try (0..<table.keyCount).map { try statement.value(at: Int32($0)) }) }
      return keys
    }
  }
}
