import GodwitBase
import GodwitKeys
import GodwitModel
import GodwitReplication
import GodwitStorage

/// A hash of the synced tables' content: equal on replicas that hold the same changes (Specs/merge.md, "Digest").
enum LogicalDigest {
  static func compute(_ connection: Connection, catalog: Catalog) throws -> ContentHash {
    var hasher = ContentHasher()
    var buffer = ByteWriter(capacity: 1 << 16)
    for table in catalog.synced.map(\.definition).sorted(by: { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }) {
      let columns = Array(table.columns.prefix(table.keyCount))
        + table.columns.dropFirst(table.keyCount).sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
      buffer.string(table.name)
      for column in columns { buffer.string(column.name) }
      let names = columns.map { SQLName.quoted($0.name) }.joined(separator: ", ")
      let sql = "SELECT \(names) FROM \(SQLName.quoted(table.name)) ORDER BY \(table.quotedKeyList)"
      try connection.withStatement(sql) { statement in
        while try statement.step() {
          buffer.byte(1)
          for index in columns.indices { statement.write(at: Int32(index), to: &buffer) }
          if buffer.count >= 1 << 16 {
            hasher.update(buffer.bytes)
            buffer.removeAll()
          }
        }
      }
      buffer.byte(0)
    }
    hasher.update(buffer.bytes)
    return hasher.finalize()
  }
}
