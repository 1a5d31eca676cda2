import GodwitBase

/// One insert, update or delete of one row, as slices of the change set it stands in.
package struct Operation: Sendable {
  package let kind: OperationKind
  /// Position in the change set's dictionary.
  package let table: Int
  /// The primary key's encoded values.
  package let key: ArraySlice<UInt8>
  /// Insert: every other column's encoded value, in order. Update: count, then number and value of each changed column.
  package let payload: ArraySlice<UInt8>

  package init(reading reader: inout ByteReader, tables: [ChangeSet.Table]) throws {
    let head = try reader.varint()
    guard let kind = OperationKind(rawValue: UInt8(head & 3)), head >> 2 < UInt64(tables.count) else {
      throw ByteReader.malformed("an operation's head")
    }
    self.kind = kind
    table = Int(head >> 2)
    let definition = tables[table]
    let keyStart = reader.position
    for _ in 0..<definition.keyCount { _ = try reader.encodedValue() }
    key = reader.bytes[keyStart..<reader.position]
    let payloadStart = reader.position
    switch kind {
    case .insert:
      for _ in definition.keyCount..<definition.columnCount { _ = try reader.encodedValue() }
    case .update:
      let count = try reader.count(limit: definition.columnCount - definition.keyCount, "changed columns")
      var previous = definition.keyCount - 1
      for _ in 0..<count {
        let column = try reader.count(limit: definition.columnCount - 1, "column number")
        guard column > previous else { throw ByteReader.malformed("changed columns are not in order") }
        previous = column
        _ = try reader.encodedValue()
      }
    case .delete: break
    }
    payload = reader.bytes[payloadStart..<reader.position]
    row = reader.bytes[keyStart..<reader.position]
  }

  /// Key and payload, which stand side by side: an insert's whole row.
  package let row: ArraySlice<UInt8>

  package static func head(table: Int, kind: OperationKind) -> UInt64 { UInt64(table) << 2 | UInt64(kind.rawValue) }

  /// The cells an insert or update writes: column number and value. Empty for a delete.
  package func cells(in definition: ChangeSet.Table) throws -> [Cell] {
    var reader = ByteReader(payload)
    switch kind {
    case .insert:
      return try (definition.keyCount..<definition.columnCount).map { Cell(column: $0, value: try reader.value()) }
    case .update:
      let count = try reader.count(limit: definition.columnCount, "changed columns")
      return try (0..<count).map { _ in
        let column = try reader.count(limit: definition.columnCount - 1, "column number")
        return Cell(column: column, value: try reader.value())
      }
    case .delete:
      return []
    }
  }
}

/// A column number and the value written to it.
package struct Cell: Hashable, Sendable {
  package let column: Int
  package let value: Value

  package init(column: Int, value: Value) {
    self.column = column
    self.value = value
  }
}
