import GodwitBase

extension SchemaStep {
  package func write(to writer: inout ByteWriter) {
    switch self {
    case .createTable(let table):
      writer.byte(1)
      table.write(to: &writer)
    case .dropTable(let name):
      writer.byte(2)
      writer.string(name)
    case .renameTable(let name, let newName):
      writer.byte(3)
      writer.string(name)
      writer.string(newName)
    case .addColumn(let column, let table, let derivation):
      writer.byte(4)
      writer.string(table)
      column.write(to: &writer)
      writer.byte(derivation == nil ? 0 : 1)
      if let derivation {
        writer.string(derivation.column)
        derivation.rule.write(to: &writer)
      }
    case .dropColumn(let name, let table):
      writer.byte(5)
      writer.string(table)
      writer.string(name)
    case .renameColumn(let name, let newName, let table):
      writer.byte(6)
      writer.string(table)
      writer.string(name)
      writer.string(newName)
    case .changeColumn(let column, let table, let rule):
      writer.byte(7)
      writer.string(table)
      column.write(to: &writer)
      rule.write(to: &writer)
    case .addIndex(let index, let table):
      writer.byte(8)
      writer.string(table)
      writer.byte(index.isUnique ? 1 : 0)
      writer.strings(index.columns)
    case .dropIndex(let columns, let table):
      writer.byte(9)
      writer.string(table)
      writer.strings(columns)
    case .setSynced(let isSynced, let table):
      writer.byte(11)
      writer.string(table)
      writer.byte(isSynced ? 1 : 0)
    case .data(let data):
      writer.byte(10)
      data.write(to: &writer)
    }
  }

  package init(reading reader: inout ByteReader) throws {
    switch try reader.byte() {
    case 1: self = .createTable(try TableDefinition(reading: &reader))
    case 2: self = .dropTable(try reader.tableName())
    case 3: self = .renameTable(try reader.tableName(), to: try reader.tableName())
    case 4:
      let table = try reader.tableName()
      let column = try ColumnDefinition(reading: &reader)
      var derivation: Derivation?
      if try reader.flag() {
        derivation = Derivation(column: try reader.columnName(of: table), rule: try ValueRule(reading: &reader))
      }
      self = .addColumn(column, table: table, from: derivation)
    case 5:
      let table = try reader.tableName()
      self = .dropColumn(try reader.columnName(of: table), table: table)
    case 6:
      let table = try reader.tableName()
      self = .renameColumn(
        try reader.columnName(of: table), to: try reader.columnName(of: table), table: table)
    case 7:
      let table = try reader.tableName()
      let column = try ColumnDefinition(reading: &reader)
      self = .changeColumn(column, table: table, rule: try ValueRule(reading: &reader))
    case 8:
      let table = try reader.tableName()
      let isUnique = try reader.flag()
      self = .addIndex(IndexDefinition(columns: try reader.columnNames(of: table), isUnique: isUnique), table: table)
    case 9:
      let table = try reader.tableName()
      self = .dropIndex(try reader.columnNames(of: table), table: table)
    case 10: self = .data(try DataWork(reading: &reader))
    case 11:
      let table = try reader.tableName()
      self = .setSynced(try reader.flag(), table: table)
    default: throw ByteReader.malformed("a step of a migration")
    }
  }
}

extension SchemaStep.DataWork {
  func write(to writer: inout ByteWriter) {
    writer.string(name)
    writer.byte(isCode ? 1 : 0)
    writer.raw(digest)
  }

  init(reading reader: inout ByteReader) throws {
    self.init(
      name: try reader.string(limit: SchemaName.byteLimit), isCode: try reader.flag(),
      digest: Array(try reader.raw(Self.digestByteCount)))
  }
}

extension SchemaStep.ValueRule {
  func write(to writer: inout ByteWriter) {
    switch self {
    case .widen(let type):
      writer.byte(0)
      writer.byte(type.rawValue)
    case .expression(let text):
      writer.byte(1)
      writer.string(text)
    }
  }

  init(reading reader: inout ByteReader) throws {
    guard try !reader.flag() else {
      self = .expression(try reader.string(limit: ExpressionLanguage.byteLimit))
      return
    }
    guard let type = ColumnType(rawValue: try reader.byte()) else { throw ByteReader.malformed("a column type") }
    self = .widen(to: type)
  }
}

extension ByteWriter {
  fileprivate mutating func strings(_ names: [String]) {
    varint(names.count)
    for name in names { string(name) }
  }
}

extension ByteReader {
  fileprivate mutating func columnNames(of table: String) throws -> [String] {
    let count = try count(limit: TableDefinition.columnLimit, "columns of an index")
    return try (0..<count).map { _ in try columnName(of: table) }
  }
}
