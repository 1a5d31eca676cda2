import GodwitBase
import GodwitCore

/// The tables that a frame's change sets are of, and which of its streams are whose.
///
/// A few bytes can name many columns, and each has a stream: their number is limited before any of them is made.
struct FrameDictionary {
  struct Entry {
    let tables: [ChangeSet.Table]
    /// The tables as they stand in every change set of the entry.
    let tableBytes: ArraySlice<UInt8>
    /// Where each table's streams begin.
    let firstStream: [Int]
    /// The columns of each table that are counters or sets.
    let relative: [Set<Int>]

    /// What a change set of so many operations begins with.
    func writeHeader(operationCount: Int, to writer: inout ByteWriter) {
      var count = ByteWriter()
      count.varint(operationCount)
      writer.varint(tableBytes.count + count.count)
      writer.raw(tableBytes)
      writer.raw(count.bytes)
    }
  }

  private(set) var entries: [Entry] = []
  private(set) var streamCount = 0
  private var columnCount = 0

  init(reading reader: inout ByteReader) throws {
    for _ in 0..<(try reader.count(limit: reader.remaining, "dictionary entries")) {
      try add(reader.lengthPrefixed())
    }
  }

  private mutating func add(_ bytes: ArraySlice<UInt8>) throws {
    let changes = try ChangeSet(bytes)
    try changes.expectDistinctTables()
    guard !changes.tables.isEmpty, changes.operationCount == 0, changes.operations.isEmpty else {
      throw ByteReader.malformed("a dictionary entry without tables, or with operations")
    }
    var firstStream: [Int] = []
    for table in changes.tables {
      firstStream.append(streamCount)
      streamCount += table.streamCount
      columnCount += table.columnCount
    }
    guard columnCount <= SyncFileFormat.dictionaryColumnLimit else {
      throw GodwitError(.limitExceeded, "a frame names more than \(SyncFileFormat.dictionaryColumnLimit) columns")
    }
    // Between the header's length and the count of no operations, one byte.
    var header = ByteReader(bytes)
    _ = try header.varint()
    let tableBytes = bytes[header.position...].dropLast()
    entries.append(
      Entry(
        tables: changes.tables, tableBytes: tableBytes, firstStream: firstStream,
        relative: changes.tables.map { Set($0.columns.filter(\.isRelative).map(\.index)) }))
  }
}

extension ChangeSet.Table {
  /// The streams of a frame that hold its values: one for the keys, then one for each other column.
  var streamCount: Int { columnCount - keyCount + 1 }

  /// Whether it names all of its columns, as one must whose rows come whole.
  var isWhole: Bool { columns.count == columnCount }
}
