import GodwitBase
import GodwitCore

/// Unpacks a frame back into transactions, byte for byte as their origins wrote them.
struct FrameDecoder {
  private let origins: [Origin]
  private let present: VersionVector
  private var remaining: Int
  private let dictionary: [FrameDictionary.Entry]
  private var heads: ByteReader
  private var operations: ByteReader
  private var streams: [ByteReader] = []
  private var previousHLC: UInt64 = 0
  /// How many elements of sets the last transaction names.
  private(set) var elements = 0

  /// For a file whose header that is.
  init(_ bytes: [UInt8], _ header: SyncFileHeader) throws {
    try self.init(bytes, origins: header.ranges.map(\.origin), present: header.present)
  }

  init(_ bytes: [UInt8], origins: [Origin], present: VersionVector = VersionVector()) throws {
    (self.origins, self.present) = (origins, present)
    var reader = ByteReader(bytes)
    remaining = try reader.count(limit: bytes.count, "transactions in a frame")
    let dictionary = try FrameDictionary(reading: &reader)
    self.dictionary = dictionary.entries
    heads = ByteReader(try reader.lengthPrefixed())
    operations = ByteReader(try reader.lengthPrefixed())
    // Every stream has at least its length, so the bytes at hand bound their number.
    guard dictionary.streamCount <= reader.remaining else { throw ByteReader.truncated() }
    for _ in 0..<dictionary.streamCount {
      let stream = try reader.lengthPrefixed()
      try stream.withUnsafeBytes(EncodedRow.check)
      streams.append(ByteReader(stream))
    }
    try reader.expectEnd()
  }

  /// The next transaction, or nil when the frame is used up to its last byte.
  mutating func next(_ position: inout FramePosition) throws -> TransactionRecord? {
    guard remaining > 0 else {
      try heads.expectEnd()
      try operations.expectEnd()
      for stream in streams { try stream.expectEnd() }
      return nil
    }
    remaining -= 1
    let origin = origins[try heads.count(limit: origins.count - 1, "origin number")]
    previousHLC &+= UInt64(bitPattern: try heads.signedVarint())
    let hlc = HLC(rawValue: previousHLC)
    guard hlc < HLC.limit else { throw ByteReader.malformed("a timestamp is out of range") }
    let schemaVersion = UInt64(try heads.count(limit: Int(UInt32.max), "schema version"))
    let context = try heads.flag() ? try readContext(of: origin) : nil
    let entry = dictionary[try heads.count(limit: dictionary.count - 1, "dictionary number")]
    let count = try heads.count(limit: ChangeSet.operationLimit, "operations")
    guard count > 0 else { throw ByteReader.malformed("a transaction without operations") }
    guard let sequence = position.take(origin) else {
      throw ByteReader.malformed("an origin has more transactions than its range")
    }
    let changes = try changes(entry, count: count)
    guard changes.count <= TransactionRecord.changesByteLimit else {
      throw GodwitError(.limitExceeded, "a transaction has \(changes.count) bytes")
    }
    return TransactionRecord(
      dot: Dot(origin, sequence), hlc: hlc, schemaVersion: schemaVersion, context: context, changes: changes)
  }

  private mutating func readContext(of origin: Origin) throws -> VersionVector {
    let context = try VersionVector(reading: &heads, besides: FrameContexts.base(of: origin, in: present))
    try context.expectOthers(than: origin)
    return context
  }

  private mutating func changes(_ entry: FrameDictionary.Entry, count: Int) throws -> [UInt8] {
    var writer = ByteWriter(capacity: 256)
    var rows = DistinctRows()
    elements = 0
    entry.writeHeader(operationCount: count, to: &writer)
    for _ in 0..<count {
      let head = try operations.varint()
      let number = Int(head >> 2)
      guard let kind = OperationKind(rawValue: UInt8(head & 3)), head >> 2 < UInt64(entry.tables.count) else {
        throw ByteReader.malformed("an operation's head")
      }
      let table = entry.tables[number]
      let stream = entry.firstStream[number]
      writer.varint(head)
      let key = try readKey(table, from: stream)
      try rows.insert(key, table: number)
      writer.raw(key)
      func value(_ column: Int) throws -> ArraySlice<UInt8> {
        let place = stream + column - table.keyCount + 1
        guard entry.relative[number].contains(column) else { return try streams[place].encodedValue() }
        let bytes = try streams[place].encodedValue()
        elements += try FrameElements.checked(bytes, in: kind)
        return bytes
      }
      switch kind {
      case .insert:
        guard table.isWhole else { throw ByteReader.malformed("a row of columns without a name") }
        for column in table.keyCount..<table.columnCount { writer.raw(try value(column)) }
      case .update:
        for column in try columnNumbers(to: &writer, table) {
          writer.varint(column)
          writer.raw(try value(column))
        }
      case .delete: break
      }
    }
    return writer.bytes
  }

  /// A row's key, none of whose values is NULL.
  private mutating func readKey(_ table: ChangeSet.Table, from stream: Int) throws -> ArraySlice<UInt8> {
    let start = streams[stream].position
    for _ in 0..<table.keyCount {
      guard try streams[stream].encodedValue().first != ValueTag.null else {
        throw ByteReader.malformed("a key of NULL")
      }
    }
    return streams[stream].bytes[start..<streams[stream].position]
  }

  /// Writes how many columns are changed, and returns which: rising, none of the key, all of them named.
  private mutating func columnNumbers(to writer: inout ByteWriter, _ table: ChangeSet.Table) throws -> [Int] {
    let count = try operations.count(limit: table.columnCount - table.keyCount, "changed columns")
    writer.varint(count)
    var numbers: [Int] = []
    var named = table.keyCount
    for _ in 0..<count {
      let number = try operations.count(limit: table.columnCount - 1, "column number")
      guard number > numbers.last ?? table.keyCount - 1 else {
        throw ByteReader.malformed("changed columns are not in order")
      }
      while named < table.columns.count, table.columns[named].index < number { named += 1 }
      guard named < table.columns.count, table.columns[named].index == number else {
        throw ByteReader.malformed("a column without a name")
      }
      numbers.append(number)
    }
    return numbers
  }
}
