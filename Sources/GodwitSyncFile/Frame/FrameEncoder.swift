import GodwitBase
import GodwitCore

/// Packs transactions column by column, so that like stands by like when a frame is compressed
/// (Specs/sync-file.md, "Frame"): one stream for the transactions' heads, one for the operations' heads, then for
/// each table of the dictionary one for its keys and one for each column.
package struct FrameEncoder {
  private let originNumbers: [Origin: Int]
  /// What contexts are said to differ from.
  private let present: VersionVector
  private var dictionary: [[UInt8]] = []
  private var dictionaryNumbers: [[UInt8]: Int] = [:]
  private var heads = ByteWriter()
  private var operations = ByteWriter()
  private var tables: [TableKey: Int] = [:]
  private var streams: [[ByteWriter]] = []
  /// Of each table the columns of counters and sets.
  private var relative: [Set<Int>] = []
  private(set) var transactionCount = 0
  private var previousHLC: UInt64 = 0
  /// Bytes of the change sets.
  private var changesByteCount = 0
  /// Bytes of the contexts, when they are read.
  private var contextByteCount = 0
  /// Elements of sets.
  private(set) var elements = 0
  private var columnCount = 0

  /// Whether the frame is to be closed: each column of each dictionary entry is a stream, here and at the reader.
  var isFull: Bool {
    changesByteCount + transactionCount * Self.headByteCount >= SyncFileFormat.frameTarget
      || columnCount >= SyncFileFormat.dictionaryColumnTarget
  }

  /// What a transaction's head and its share of the rest take about.
  private static let headByteCount = 32

  private struct TableKey: Hashable {
    let dictionary: Int
    let table: Int
  }

  /// What comes out of the frame, in bytes.
  var restored: Int { changesByteCount + contextByteCount }

  /// Of the transactions' heads so far, with their contexts.
  var headsByteCount: Int { heads.count }

  /// - Parameters:
  ///   - origins: Whose transactions may come.
  ///   - present: All that the file's sender has: contexts are said by what differs.
  package init(origins: [Origin], present: VersionVector = VersionVector()) {
    originNumbers = Dictionary(uniqueKeysWithValues: origins.enumerated().map { ($1, $0) })
    self.present = present
  }

  /// For a file with this header.
  package init(_ header: SyncFileHeader) {
    self.init(origins: header.ranges.map(\.origin), present: header.present)
  }

  package mutating func append(_ record: TransactionRecord) throws {
    let changes = try ChangeSet(record.changes[...])
    guard let origin = originNumbers[record.dot.origin] else {
      throw GodwitError(.invalidArgument, "a transaction of an origin that the header does not name")
    }
    let entry = dictionaryEntry(changes, in: record.changes)
    heads.varint(origin)
    heads.signedVarint(Int64(bitPattern: record.hlc.rawValue &- previousHLC))
    previousHLC = record.hlc.rawValue
    heads.varint(record.schemaVersion)
    heads.byte(record.context == nil ? 0 : 1)
    if let context = record.context {
      context.write(to: &heads, besides: FrameContexts.base(of: record.dot.origin, in: present))
      contextByteCount += FrameContexts.byteCount(context)
    }
    heads.varint(entry)
    heads.varint(changes.operationCount)
    try changes.forEach { try append($0, in: changes.tables[$0.table], entry: entry) }
    transactionCount += 1
    changesByteCount += record.changes.count
  }

  private mutating func dictionaryEntry(_ changes: ChangeSet, in bytes: [UInt8]) -> Int {
    var writer = ByteWriter()
    ChangeSet.writeHeader(tables: changes.tables, operationCount: 0, to: &writer)
    if let number = dictionaryNumbers[writer.bytes] { return number }
    dictionaryNumbers[writer.bytes] = dictionary.count
    dictionary.append(writer.bytes)
    for (number, table) in changes.tables.enumerated() {
      tables[TableKey(dictionary: dictionary.count - 1, table: number)] = streams.count
      streams.append(Array(repeating: ByteWriter(), count: table.streamCount))
      relative.append(Set(table.columns.lazy.filter(\.isRelative).map(\.index)))
      columnCount += table.columnCount
    }
    return dictionary.count - 1
  }

  private mutating func append(_ operation: Operation, in table: ChangeSet.Table, entry: Int) throws {
    guard let place = tables[TableKey(dictionary: entry, table: operation.table)] else { return }
    operations.varint(Operation.head(table: operation.table, kind: operation.kind))
    streams[place][0].raw(operation.key)
    var reader = ByteReader(operation.payload)
    switch operation.kind {
    case .insert:
      for column in 1..<streams[place].count { try append(reader.encodedValue(), to: column, of: place, table) }
    case .update:
      let count = try reader.count()
      operations.varint(count)
      for _ in 0..<count {
        let column = try reader.count()
        operations.varint(column)
        try append(reader.encodedValue(), to: column - table.keyCount + 1, of: place, table)
      }
    case .delete: break
    }
  }

  /// Appends a value to the stream of a column that is not of the key.
  private mutating func append(
    _ value: ArraySlice<UInt8>, to column: Int, of place: Int, _ table: ChangeSet.Table
  ) throws {
    streams[place][column].raw(value)
    guard !relative[place].isEmpty, relative[place].contains(column + table.keyCount - 1) else { return }
    elements += try FrameElements.written(value)
  }

  /// The frame's bytes; the encoder is empty afterwards.
  package mutating func finish() throws -> [UInt8] {
    var writer = ByteWriter(capacity: changesByteCount)
    writer.varint(transactionCount)
    writer.varint(dictionary.count)
    for entry in dictionary { writer.lengthPrefixed(entry) }
    writer.lengthPrefixed(heads.bytes)
    writer.lengthPrefixed(operations.bytes)
    for stream in streams.joined() { writer.lengthPrefixed(stream.bytes) }
    guard writer.count <= SyncFileExpansion.partByteLimit else {
      throw GodwitError(.limitExceeded, "a transaction is too large for a sync file: \(writer.count) bytes")
    }
    self = FrameEncoder(originNumbers: originNumbers, present: present)
    return writer.bytes
  }

  private init(originNumbers: [Origin: Int], present: VersionVector) {
    (self.originNumbers, self.present) = (originNumbers, present)
  }
}

/// What transactions had seen, as a frame has it: mostly nearly all that the file's sender has.
enum FrameContexts {
  /// What the context of an origin's transaction is compared with: it never names its own origin.
  static func base(of origin: Origin, in present: VersionVector) -> VersionVector {
    present.replacing([origin: .none])
  }

  /// What a context takes once it is read: an origin and a sequence each.
  static func byteCount(_ context: VersionVector) -> Int { 21 * context.entries.count }
}
