import GodwitBase
import GodwitCore

/// Names a row within a database: the table's number, then the key's encoded values.
struct RowKey: Hashable, Comparable {
  let bytes: [UInt8]
  let table: Int

  init(table: Int, key: ArraySlice<UInt8>) {
    var writer = ByteWriter(capacity: key.count + 2)
    writer.varint(table)
    writer.raw(key)
    bytes = writer.bytes
    self.table = table
  }

  /// The row whose key is one value.
  init(table: Int, key: Value) {
    var writer = ByteWriter(capacity: 24)
    writer.value(key)
    self.init(table: table, key: writer.bytes[...])
  }

  init(bytes: [UInt8]) throws {
    var reader = ByteReader(bytes)
    table = try reader.count()
    self.bytes = bytes
  }

  /// The key's encoded values.
  var key: ArraySlice<UInt8> {
    var reader = ByteReader(bytes)
    _ = try? reader.varint()
    return bytes[reader.position...]
  }

  static func < (left: RowKey, right: RowKey) -> Bool { left.bytes.lexicographicallyPrecedes(right.bytes) }
}

extension RowKey {
  /// The order in which rows of one table have a claim: that of their keys' values, as SQLite orders them.
  func precedes(_ other: RowKey) throws -> Bool {
    let (values, others) = (try values, try other.values)
    let differing = zip(values, others).first { $0 != $1 }
    return differing.map { $0.precedes($1) } ?? (self < other)
  }

  private var values: [Value] {
    get throws {
      var reader = ByteReader(key)
      var values: [Value] = []
      while !reader.isAtEnd { values.append(try reader.value()) }
      return values
    }
  }

  /// The bytes that all keys of a table lie between.
  static func prefix(of table: Int) -> (first: [UInt8], end: [UInt8]) {
    var writer = ByteWriter(capacity: 4)
    writer.varint(table)
    return (writer.bytes, writer.bytes.dropLast() + [(writer.bytes.last ?? 0) + 1])
  }

  /// The same as values to bind.
  static func range(of table: Int) -> [Value] {
    let (first, end) = prefix(of: table)
    return [.blob(first), .blob(end)]
  }
}
