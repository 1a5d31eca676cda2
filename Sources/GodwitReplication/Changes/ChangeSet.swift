import GodwitBase

/// A transaction's operations as bytes: a dictionary of the tables and columns they use, then the operations
/// (Specs/change-log.md, "Change set"). Origins write it once; everyone else stores and relays it verbatim.
package struct ChangeSet: Sendable {
  /// A table of the dictionary. Columns are numbered as in the origin's table; the key comes first.
  package struct Table: Hashable, Sendable {
    package let name: String
    package let columnCount: Int
    package let keyCount: Int
    /// The columns that operations use, by number, rising.
    package let columns: [(index: Int, name: String)]

    package init(name: String, columnCount: Int, keyCount: Int, columns: [(index: Int, name: String)]) {
      self.name = name
      self.columnCount = columnCount
      self.keyCount = keyCount
      self.columns = columns
    }

    package static func == (left: Self, right: Self) -> Bool {
      left.name == right.name && left.columnCount == right.columnCount && left.keyCount == right.keyCount
        && left.columns.elementsEqual(right.columns, by: ==)
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
      writer.varint(column.index)
      writer.string(column.name)
    }
  }

  init(reading reader: inout ByteReader) throws {
    name = try reader.string(limit: TableDefinition.nameByteLimit)
    columnCount = try reader.count(limit: TableDefinition.columnLimit, "columns")
    keyCount = try reader.count(limit: columnCount, "key columns")
    let count = try reader.count(limit: columnCount, "used columns")
    var columns: [(index: Int, name: String)] = []
    for _ in 0..<count {
      let index = try reader.count(limit: columnCount - 1, "column number")
      guard index > columns.last?.index ?? -1 else { throw ByteReader.malformed("columns are not in order") }
      columns.append((index, try reader.string(limit: TableDefinition.nameByteLimit)))
    }
    self.columns = columns
    let keysAreListed = columns.count >= keyCount && (0..<keyCount).allSatisfy { columns[$0].index == $0 }
    guard keyCount > 0, keysAreListed else { throw ByteReader.malformed("a table without its key") }
  }
}
