import GodwitBase

/// A transaction's operations as bytes: a dictionary of the tables and columns they use, then the operations
/// (Specs/change-log.md, "Change set"). Origins write it once; everyone else stores and relays it verbatim.
package struct ChangeSet: Sendable {
  /// A column of the dictionary.
  package struct Column: Hashable, Sendable {
    package let index: Int
    package let name: String
    /// Whether updates carry what they do to the value, not the value itself: differences of a counter, changes of a
    /// set.
    package let isRelative: Bool

    package init(index: Int, name: String, isRelative: Bool = false) {
      self.index = index
      self.name = name
      self.isRelative = isRelative
    }
  }

  /// A table of the dictionary. Columns are numbered as in the origin's table; the key comes first.
  package struct Table: Hashable, Sendable {
    package let name: String
    package let columnCount: Int
    package let keyCount: Int
    /// The columns that operations use, by number, rising.
    package let columns: [Column]

    package init(name: String, columnCount: Int, keyCount: Int, columns: [Column]) {
      self.name = name
      self.columnCount = columnCount
      self.keyCount = keyCount
      self.columns = columns
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(name) }
  }

  package static let tableLimit = 1_024
  /// Operations of one transaction; also bounds what a reader allocates for it.
  package static let operationLimit = 16_777_216

  package let tables: [Table]
  package let operationCount: Int
  /// The operations' bytes.
  package let operations: ArraySlice<UInt8>

  package init(_ bytes: ArraySlice<UInt8>) throws {
    var reader = ByteReader(bytes)
    let headerLength = try reader.count(limit: reader.remaining, "length of a change set's header")
    let headerEnd = reader.position + headerLength
    let tableCount = try reader.count(limit: Self.tableLimit, "tables in a change set")
    tables = try (0..<tableCount).map { _ in try Table(reading: &reader) }
    operationCount = try reader.count(limit: Self.operationLimit, "operations in a change set")
    guard reader.position == headerEnd else { throw ByteReader.malformed("a change set's header has another length") }
    operations = bytes[reader.position...]
  }

  package static func writeHeader(tables: [Table], operationCount: Int, to writer: inout ByteWriter) {
    var header = ByteWriter(capacity: 256)
    header.varint(tables.count)
    for table in tables { table.write(to: &header) }
    header.varint(operationCount)
    writer.lengthPrefixed(header.bytes)
  }

  /// Where the operations of an encoded change set begin, which its header's length says; the end when there are no
  /// operations or the bytes are no change set.
  package static func operationsStart(in bytes: UnsafeRawBufferPointer) -> Int {
    var reader = ByteReader(Array(bytes.prefix(10)))  // the most a varint takes
    guard let length = try? reader.count(limit: bytes.count) else { return bytes.count }
    return min(reader.position + length, bytes.count)
  }

  /// Throws `corruptFile` where two entries of the dictionary are of one table: a row is named once in a transaction.
  package func expectDistinctTables() throws {
    guard tables.count < 2 || Set(tables.map { $0.name.lowercased() }).count == tables.count else {
      throw ByteReader.malformed("a change set that names a table twice")
    }
  }

  /// Calls the body with each operation in order, and demands that they fill the bytes exactly.
  package func forEach(_ body: (Operation) throws -> Void) throws {
    var reader = ByteReader(operations)
    for _ in 0..<operationCount { try body(Operation(reading: &reader, tables: tables)) }
    try reader.expectEnd()
  }
}

extension ChangeSet.Table {
  func write(to writer: inout ByteWriter) {
    writer.string(name)
    writer.varint(columnCount)
    writer.varint(keyCount)
    writer.varint(columns.count)
    for column in columns {
      writer.varint(column.index << 1 | (column.isRelative ? 1 : 0))
      writer.string(column.name)
    }
  }

  init(reading reader: inout ByteReader) throws {
    let name = try reader.tableName()
    self.name = name
    columnCount = try reader.count(limit: TableDefinition.columnLimit, "columns")
    keyCount = try reader.count(limit: columnCount, "key columns")
    let count = try reader.count(limit: columnCount, "used columns")
    var columns: [ChangeSet.Column] = []
    for _ in 0..<count {
      let head = try reader.count(limit: columnCount * 2 - 1, "column number")
      guard head >> 1 > columns.last?.index ?? -1 else { throw ByteReader.malformed("columns are not in order") }
      columns.append(
        ChangeSet.Column(
          index: head >> 1, name: try reader.columnName(of: name), isRelative: head & 1 != 0))
    }
    self.columns = columns
    let keysAreListed = columns.count >= keyCount && (0..<keyCount).allSatisfy { columns[$0].index == $0 }
    guard keyCount > 0, keysAreListed else { throw ByteReader.malformed("a table without its key") }
  }
}
