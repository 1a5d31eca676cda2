import GodwitBase
import GodwitReplication

/// Unpacks a frame back into transactions, byte for byte as their origins wrote them.
struct FrameDecoder {
  private struct Entry {
    let tables: [ChangeSet.Table]
    /// Where each table's streams begin.
    let firstStream: [Int]
  }

  private let origins: [Origin]
  private var remaining: Int
  private var dictionary: [Entry] = []
  private var heads: ByteReader
  private var operations: ByteReader
  private var streams: [ByteReader] = []
  private var previousHLC: UInt64 = 0

  init(_ bytes: [UInt8], origins: [Origin]) throws {
    self.origins = origins
    var reader = ByteReader(bytes)
    remaining = try reader.count(limit: bytes.count, "transactions in a frame")
    let entryCount = try reader.count(limit: bytes.count, "dictionary entries")
    var streamCount = 0
    for _ in 0..<entryCount {
      let tables = try ChangeSet(reader.lengthPrefixed()).tables
      var firstStream: [Int] = []
      for table in tables {
        firstStream.append(streamCount)
        streamCount += table.columnCount - table.keyCount + 1
      }
      dictionary.append(Entry(tables: tables, firstStream: firstStream))
    }
    heads = ByteReader(try reader.lengthPrefixed())
    operations = ByteReader(try reader.lengthPrefixed())
    // Every stream has at least its length, so the bytes at hand bound their number.
    guard streamCount <= reader.remaining else { throw ByteReader.truncated() }
    for _ in 0..<streamCount { streams.append(ByteReader(try reader.lengthPrefixed())) }
    try reader.expectEnd()
  }

  /// The next transaction, or nil when the frame is used up to its last byte.
  mutating func next(_ position: inout FramePosition) throws -> TransactionRecord? {
    guard remaining > 0 else {
      for reader in [heads, operations] + streams { try reader.expectEnd() }
      return nil
    }
    remaining -= 1
    let origin = origins[try heads.count(limit: origins.count - 1, "origin number")]
    previousHLC &+= UInt64(bitPattern: try heads.signedVarint())
    let hlc = HLC(rawValue: previousHLC)
    guard hlc < HLC.limit else { throw ByteReader.malformed("a timestamp is out of range") }
    let schemaVersion = UInt64(try heads.count(limit: Int(UInt32.max), "schema version"))
    let context = try heads.flag() ? try VersionVector(reading: &heads) : nil
    let entry = dictionary[try heads.count(limit: dictionary.count - 1, "dictionary number")]
    let count = try heads.count(limit: ChangeSet.operationLimit, "operations")
    guard let sequence = position.take(origin) else {
      throw ByteReader.malformed("an origin has more transactions than its range")
    }
    return TransactionRecord(
      dot: Dot(origin, sequence), hlc: hlc, schemaVersion: schemaVersion, context: context,
      changes: try changes(entry, count: count))
  }

  private mutating func changes(_ entry: Entry, count: Int) throws -> [UInt8] {
    var writer = ByteWriter(capacity: 256)
    ChangeSet.writeHeader(tables: entry.tables, operationCount: count, to: &writer)
    for _ in 0..<count {
      let head = try operations.varint()
      let number = Int(head >> 2)
      guard let kind = OperationKind(rawValue: UInt8(head & 3)), head >> 2 < UInt64(entry.tables.count) else {
        throw ByteReader.malformed("an operation's head")
      }
      let table = entry.tables[number]
      let stream = entry.firstStream[number]
      writer.varint(head)
      for _ in 0..<table.keyCount { writer.raw(try streams[stream].encodedValue()) }
      switch kind {
      case .insert, .move:
        if kind == .move { try moveHead(to: &writer, table, keys: stream) }
        for column in table.keyCount..<table.columnCount {
          writer.raw(try streams[stream + column - table.keyCount + 1].encodedValue())
        }
      case .update:
        let changed = try operations.count(limit: table.columnCount - table.keyCount, "changed columns")
        writer.varint(changed)
        for _ in 0..<changed {
          let column = try operations.count(limit: table.columnCount - 1, "column number")
          guard column >= table.keyCount else { throw ByteReader.malformed("a key column is changed") }
          writer.varint(column)
          writer.raw(try streams[stream + column - table.keyCount + 1].encodedValue())
        }
      case .delete: break
      }
    }
    return writer.bytes
  }

  /// The key before, which follows the new one in its stream, and the columns changed besides.
  private mutating func moveHead(to writer: inout ByteWriter, _ table: ChangeSet.Table, keys stream: Int) throws {
    for _ in 0..<table.keyCount { writer.raw(try streams[stream].encodedValue()) }
    let changed = try operations.count(limit: table.columnCount - table.keyCount, "changed columns")
    writer.varint(changed)
    for _ in 0..<changed { writer.varint(try operations.count(limit: table.columnCount - 1, "column number")) }
  }
}
