import GodwitBase

extension TableDefinition {
  package func write(to writer: inout ByteWriter) {
    writer.string(name)
    writer.byte((isSynced ? 1 : 0) | (numbersKeys ? 2 : 0) | deletes.rawValue << 2)
    writer.varint(keyCount)
    writer.varint(columns.count)
    for column in columns { column.write(to: &writer) }
    writer.varint(indexes.count)
    for index in indexes {
      writer.byte(index.isUnique ? 1 : 0)
      writer.varint(index.columns.count)
      for column in index.columns { writer.string(column) }
    }
  }

  package init(reading reader: inout ByteReader) throws {
    let name = try reader.string(limit: Self.nameByteLimit)
    let bits = try reader.byte()
    guard bits < 8, let deletes = DeletePolicy(rawValue: bits >> 2) else { throw ByteReader.malformed("table flags") }
    let keyCount = try reader.count(limit: Self.columnLimit, "key columns")
    let columnCount = try reader.count(limit: Self.columnLimit, "columns")
    let columns = try (0..<columnCount).map { _ in try ColumnDefinition(reading: &reader) }
    let indexCount = try reader.count(limit: Self.indexLimit, "indexes")
    let indexes = try (0..<indexCount).map { _ in
      let isUnique = try reader.flag()
      let count = try reader.count(limit: Self.columnLimit, "index columns")
      return IndexDefinition(
        columns: try (0..<count).map { _ in try reader.string(limit: Self.nameByteLimit) }, isUnique: isUnique)
    }
    try self.init(
      name: name, keyCount: keyCount, columns: columns, indexes: indexes, isSynced: bits & 1 != 0,
      numbersKeys: bits & 2 != 0, deletes: deletes)
  }
}

extension ColumnDefinition {
  func write(to writer: inout ByteWriter) {
    writer.string(name)
    writer.byte(type.rawValue)
    let bits: [(Bool, UInt8)] = [
      (isNullable, 1), (defaultValue != nil, 2), (reference != nil, 4), (check != nil, 8),
      (merge != .lastWriterWins, 16), (reference?.isAcyclic == true, 32),
    ]
    writer.byte(bits.reduce(0) { $1.0 ? $0 | $1.1 : $0 })
    if let defaultValue { writer.value(defaultValue) }
    if let reference {
      writer.string(reference.table)
      writer.byte(reference.onDelete.rawValue)
    }
    if let check { writer.string(check) }
    if merge != .lastWriterWins { merge.write(to: &writer) }
  }

  init(reading reader: inout ByteReader) throws {
    let name = try reader.string(limit: TableDefinition.nameByteLimit)
    guard let type = ColumnType(rawValue: try reader.byte()) else { throw ByteReader.malformed("a column type") }
    let flags = try reader.byte()
    guard flags < 64, flags & 36 != 32 else { throw ByteReader.malformed("column flags") }
    let defaultValue = flags & 2 != 0 ? try reader.value() : nil
    var reference: Reference?
    if flags & 4 != 0 {
      let table = try reader.string(limit: TableDefinition.nameByteLimit)
      guard let action = DeleteAction(rawValue: try reader.byte()) else {
        throw ByteReader.malformed("a delete action")
      }
      reference = Reference(table: table, onDelete: action, isAcyclic: flags & 32 != 0)
    }
    let check = flags & 8 != 0 ? try reader.string(limit: ExpressionLanguage.byteLimit) : nil
    let merge = flags & 16 != 0 ? try MergePolicy(reading: &reader) : .lastWriterWins
    self.init(
      name: name, type: type, isNullable: flags & 1 != 0, defaultValue: defaultValue, reference: reference,
      check: check, merge: merge)
  }
}

extension MergePolicy {
  private static let plain: [MergePolicy] = [.lastWriterWins, .counter, .addWinsSet, .maximum, .minimum]
  private static let customCode: UInt8 = 5

  func write(to writer: inout ByteWriter) {
    if case .custom(let name) = self {
      writer.byte(Self.customCode)
      writer.string(name)
    } else {
      writer.byte(UInt8(Self.plain.firstIndex(of: self) ?? 0))
    }
  }

  init(reading reader: inout ByteReader) throws {
    let code = try reader.byte()
    if code == Self.customCode {
      self = .custom(try reader.string(limit: TableDefinition.nameByteLimit))
    } else {
      guard code > 0, Int(code) < Self.plain.count else { throw ByteReader.malformed("a merge policy") }
      self = Self.plain[Int(code)]
    }
  }
}

extension ByteReader {
  package mutating func flag() throws -> Bool {
    switch try byte() {
    case 0: false
    case 1: true
    default: throw Self.malformed("a flag is neither 0 nor 1")
    }
  }
}
