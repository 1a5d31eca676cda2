import GodwitBase
import GodwitCore

/// One piece of a state file's state (Specs/state-file.md, "Items"). Tables and origins are named by their places in
/// the header.
package enum StateItem {
  /// A row as its table shows it: all values, key first.
  case row(table: Int, values: ArraySlice<UInt8>)
  /// What is remembered of a row.
  case state(table: Int, key: ArraySlice<UInt8>, state: ArraySlice<UInt8>)
  /// What a row waits for; the target's table is nil when the sender has none of that name.
  case limbo(kind: UInt8, targetTable: Int?, target: ArraySlice<UInt8>, table: Int, key: ArraySlice<UInt8>)
  /// A transaction that has not been forgotten, with the cells of the rows it deleted where the sender has them.
  case transaction(origin: Int, StateTransaction)

  /// A row that was written beyond the sender's clock, how far, whether or not the row is still there.
  case ahead(table: Int, key: ArraySlice<UInt8>, hlc: HLC)

  private enum Kind: UInt8 {
    case row = 1
    case state = 2
    case limbo = 3
    case transaction = 4
    case ahead = 5
  }

  package func write(to writer: inout ByteWriter) {
    switch self {
    case .row(let table, let values):
      writer.byte(Kind.row.rawValue)
      writer.varint(table)
      writer.lengthPrefixed(values)
    case .state(let table, let key, let state):
      writer.byte(Kind.state.rawValue)
      writer.varint(table)
      writer.lengthPrefixed(key)
      writer.lengthPrefixed(state)
    case .limbo(let kind, let targetTable, let target, let table, let key):
      writer.byte(Kind.limbo.rawValue)
      writer.byte(kind)
      writer.varint(targetTable.map { $0 + 1 } ?? 0)
      writer.lengthPrefixed(target)
      writer.varint(table)
      writer.lengthPrefixed(key)
    case .transaction(let origin, let transaction):
      writer.byte(Kind.transaction.rawValue)
      writer.varint(origin)
      transaction.write(to: &writer)
    case .ahead(let table, let key, let hlc):
      writer.byte(Kind.ahead.rawValue)
      writer.varint(table)
      writer.lengthPrefixed(key)
      writer.bigEndian(hlc.rawValue)
    }
  }

  /// Reads an item of a state file with so many tables and origins, whose header lists so many migrations.
  package init(
    reading reader: inout ByteReader, tables: Int, origins: Int, migrations: Int
  ) throws {
    func table(_ reader: inout ByteReader) throws -> Int { try reader.count(limit: tables - 1, "table number") }
    switch Kind(rawValue: try reader.byte()) {
    case .row: self = .row(table: try table(&reader), values: try reader.lengthPrefixed())
    case .state:
      self = .state(table: try table(&reader), key: try reader.lengthPrefixed(), state: try reader.lengthPrefixed())
    case .limbo:
      let kind = try reader.byte()
      let target = try reader.count(limit: tables, "table number")
      self = .limbo(
        kind: kind, targetTable: target == 0 ? nil : target - 1, target: try reader.lengthPrefixed(),
        table: try table(&reader), key: try reader.lengthPrefixed())
    case .transaction:
      let origin = try reader.count(limit: origins - 1, "origin number")
      self = .transaction(origin: origin, try StateTransaction(reading: &reader, migrations: migrations))
    case .ahead:
      let table = try table(&reader)
      let key = try reader.lengthPrefixed()
      let hlc = HLC(rawValue: try reader.bigEndian())
      guard hlc < HLC.limit else { throw ByteReader.malformed("a timestamp is out of range") }
      self = .ahead(table: table, key: key, hlc: hlc)
    case nil: throw ByteReader.malformed("an unknown item of a state file")
    }
  }
}
