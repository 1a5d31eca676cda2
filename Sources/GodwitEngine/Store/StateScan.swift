import GodwitBase
import GodwitModel
import GodwitCore
import GodwitStorage
import GodwitSyncFile

/// Computes a table's sum from the rows that stand in it, in time in proportion to them.
package enum StateScan {
  static func sum(of table: TableDefinition, _ hash: TableHash, on connection: Connection) throws -> StateSum {
    let sql = "SELECT \(table.quotedColumnList) FROM \(SQLName.quoted(table.name))"
    var sum = StateSum.zero
    var row = ByteWriter(capacity: 256)
    try connection.withStatement(sql) { statement in
      while try statement.step() {
        row.removeAll()
        for column in table.columns.indices { statement.write(at: Int32(column), to: &row) }
        sum += row.withBytes(0..<row.count) { hash.row(encoded: $0) }
      }
    }
    return sum
  }

  /// The state as the tables show it, and the tables whose kept sums are others.
  package static func check(
    _ connection: Connection, _ catalog: Catalog, _ origins: OriginTable
  ) throws -> (state: StateHash, differing: [String]) {
    let group = try Meta.group(on: connection)
    let stored = try StateTally.stored(connection, catalog, origins)
    var differing: [String] = []
    var sums: [(name: String, sum: StateSum)] = []
    for table in catalog.synced {
      let sum = try sum(of: table.definition, TableHash(table.definition, of: group), on: connection)
      sums.append((table.definition.name, sum))
      if sum != stored[table.id] ?? .zero { differing.append(table.definition.name) }
    }
    return (StateHash(sums), differing)
  }
}
