import GodwitBase
import GodwitCrypto
import GodwitKeys
import GodwitModel
import GodwitCore
import GodwitStorage

/// A hash of the synced tables' content: equal on replicas that hold the same changes (Specs/merge.md, "Digest").
package enum LogicalDigest {
  package static func compute(_ connection: Connection, catalog: Catalog) throws -> ContentHash {
    var hasher = ContentHasher()
    var buffer = ByteWriter(capacity: 1 << 16)
    for table in catalog.synced.map(\.definition).sorted(by: { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }) {
      if table.isCollection {
        try add(collection: table, on: connection, to: &hasher, &buffer)
        continue
      }
      let columns =
        Array(table.columns.prefix(table.keyCount))
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

  /// Documents without what they do not have: a column that no document uses may be known here and not elsewhere.
  private static func add(
    collection table: TableDefinition, on connection: Connection, to hasher: inout ContentHasher,
    _ buffer: inout ByteWriter
  ) throws {
    let numbers = (1..<table.columns.count).sorted {
      table.columns[$0].name.utf8.lexicographicallyPrecedes(table.columns[$1].name.utf8)
    }
    let defaults = table.columns.map { column in
      var writer = ByteWriter(capacity: 4)
      writer.value(column.defaultValue ?? .null)
      return writer.bytes
    }
    let sql = "SELECT \(table.quotedColumnList) FROM \(SQLName.quoted(table.name)) ORDER BY \(table.quotedKeyList)"
    try connection.withStatement(sql) { statement in
      var isFirst = true
      var cell = ByteWriter(capacity: 64)
      while try statement.step() {
        if isFirst { buffer.string(table.name) }
        isFirst = false
        buffer.byte(1)
        statement.write(at: 0, to: &buffer)
        for number in numbers {
          cell.removeAll()
          statement.write(at: Int32(number), to: &cell)
          guard cell.bytes != defaults[number] else { continue }
          buffer.string(table.columns[number].name)
          buffer.raw(cell.bytes)
        }
        buffer.string("")
        if buffer.count >= 1 << 16 {
          hasher.update(buffer.bytes)
          buffer.removeAll()
        }
      }
      if !isFirst { buffer.byte(0) }
    }
  }
}
