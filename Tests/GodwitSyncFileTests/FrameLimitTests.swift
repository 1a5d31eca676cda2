import GodwitBase
import GodwitKeys
import GodwitCore
import Testing

@testable import GodwitSyncFile

/// A frame restores the tables of its dictionary with every transaction: few bytes must not become many.
@Suite("What a frame may restore")
struct FrameLimitTests {
  private let origin = Origin(replica: ReplicaID(Identifier128(high: 7, low: 7)), incarnation: 1)

  /// Tables that are wide and whose names compress well.
  private func wideTables(_ count: Int) -> [ChangeSet.Table] {
    (0..<count).map { place in
      ChangeSet.Table(
        name: "table \(place)", columnCount: 1_902, keyCount: 1,
        columns: (0..<1_902).map { ChangeSet.Column(index: $0, name: String(repeating: "c", count: 120)) })
    }
  }

  private func changes(_ tables: [ChangeSet.Table], _ write: (inout ByteWriter) -> Int) -> [UInt8] {
    var operations = ByteWriter()
    let count = write(&operations)
    var writer = ByteWriter()
    ChangeSet.writeHeader(tables: tables, operationCount: count, to: &writer)
    return writer.bytes + operations.bytes
  }

  private func delete(_ key: Value = 1, from tables: [ChangeSet.Table]) -> [UInt8] {
    changes(tables) { writer in
      writer.varint(Operation.head(table: 0, kind: .delete))
      writer.value(key)
      return 1
    }
  }

  private func record(_ sequence: Int, _ changes: [UInt8]) -> TransactionRecord {
    TransactionRecord(
      dot: Dot(origin, SequenceNumber(rawValue: UInt64(sequence))), hlc: HLC(rawValue: 1 << 40 + UInt64(sequence)),
      schemaVersion: 0, context: nil, changes: changes)
  }

  private func frame(_ changes: [[UInt8]]) throws -> [UInt8] {
    var encoder = FrameEncoder(origins: [origin])
    for (place, changes) in changes.enumerated() { try encoder.append(record(place + 1, changes)) }
    return try encoder.finish()
  }

  /// How many transactions come out of a file whose frame is packed to so many bytes, and why no more.
  private func read(_ frame: [UInt8], packed: Int = 1 << 30) -> (count: Int, code: GodwitError.Code?) {
    var position = FramePosition([range(last: 1_000_000)])
    var count = 0
    var expansion = SyncFileExpansion()
    do {
      try expansion.unpack(frame.count, from: packed)
      var decoder = try FrameDecoder(frame, origins: [origin])
      while let record = try decoder.next(&position) {
        try expansion.restore(record.changes.count, elements: 0)
        count += 1
      }
      return (count, nil)
    } catch {
      return (count, (error as? GodwitError)?.code)
    }
  }

  private func range(last: Int) -> SyncFileHeader.Range {
    SyncFileHeader.Range(
      origin: origin, first: .none.next, last: SequenceNumber(rawValue: UInt64(last)), chainBefore: .zero,
      chainAtEnd: .zero, contextAtFirst: VersionVector(), proof: HeadProof(signature: [UInt8](repeating: 0, count: 64)))
  }

  @Test("gigabytes from a few kilobytes are refused after 256 times their size")
  func bomb() throws {
    let tables = wideTables(4)
    let changes = delete(from: tables)
    let count = 2_000
    var heads = ByteWriter()
    for _ in 0..<count { for number in [0, 2, 0, 0, 0, 1] { heads.varint(number) } }
    var bomb = ByteWriter()
    for number in [count, 1] { bomb.varint(number) }
    bomb.lengthPrefixed(self.changes(tables) { _ in 0 })
    bomb.lengthPrefixed(heads.bytes)
    bomb.lengthPrefixed([UInt8](repeating: 2, count: count))  // deletes
    bomb.lengthPrefixed([[UInt8]](repeating: [1, 2], count: count).joined())  // of the key 1
    bomb.raw([UInt8](repeating: 0, count: tables.reduce(-1) { $0 + $1.streamCount }))
    let packed = try Zstd(level: 3).compress(bomb.bytes)
    #expect(packed.count < 16_000 && changes.count * count > 1_500_000_000)
    let found = read(bomb.bytes, packed: packed.count)
    #expect(found.code == .limitExceeded)
    #expect(found.count == SyncFileExpansion.allowance / changes.count)
    let larger = read(bomb.bytes, packed: 100_000)
    #expect(larger.code == .limitExceeded && larger.count == 100_000 * SyncFileExpansion.fileRatio / changes.count)
  }

  @Test("a transaction without operations, which nobody writes, is refused")
  func empty() throws {
    #expect(read(try frame([changes(wideTables(1)) { _ in 0 }])).code == .corruptFile)
    #expect(read(try frame([changes([]) { _ in 0 }])).code == .corruptFile)
  }

  @Test("more columns than one transaction has behind others are refused before they have streams")
  func columns() throws {
    func frame(_ entryCount: Int) throws -> [UInt8] {
      var writer = ByteWriter()
      writer.varint(0)
      writer.varint(entryCount)
      let table = ChangeSet.Table(
        name: "t", columnCount: 1_902, keyCount: 1, columns: [ChangeSet.Column(index: 0, name: "id")])
      let entry = changes([table]) { _ in 0 }
      for _ in 0..<entryCount { writer.lengthPrefixed(entry) }
      for _ in 0..<(2 + 1_902 * entryCount) { writer.byte(0) }
      return writer.bytes
    }
    #expect(try read(frame(1_102)).code == nil)
    #expect(try read(frame(1_103)).code == .limitExceeded)
  }

  @Test("what a writer cuts into frames a reader takes: great transactions behind small ones, and many sets of columns")
  func written() throws {
    let table = ChangeSet.Table(
      name: "note", columnCount: 1_902, keyCount: 1,
      columns: [0, 1].map { ChangeSet.Column(index: $0, name: "c\($0)") })
    func update(_ count: Int) -> [UInt8] {
      changes([table]) { writer in
        writer.varint(Operation.head(table: 0, kind: .update))
        writer.value(1)
        writer.varint(1)
        writer.varint(1)
        writer.value(.blob([UInt8](repeating: 7, count: count)))
        return 1
      }
    }
    var all = [4 << 20 - 100, 70 << 20, 1, 3 << 20, 66 << 20, 1].map(update)
    all += (1..<100).map { number in
      let other = ChangeSet.Table(
        name: "note", columnCount: 1_902, keyCount: 1,
        columns: [0, number].map { ChangeSet.Column(index: $0, name: "c\($0)") })
      return delete(from: [other])
    }
    let identity = try Identity.generate(replica: origin.replica)
    let header = SyncFileHeader(
      group: GroupID(Identifier128(high: 1, low: 2)), sender: origin.replica, incarnation: 1, createdAt: 0,
      vector: VersionVector(), schemaVersion: 0, recipients: [identity.ageIdentity.recipient], roster: RosterRecords(),
      tables: [], ranges: [range(last: all.count)], chains: [:])
    let sink = MemorySink()
    let writer = try SyncFileWriter(header, signedBy: identity, to: sink)
    for (place, changes) in all.enumerated() { try writer.append(record(place + 1, changes)) }
    try writer.finish()
    let reader = try SyncFileReader(MemorySource(sink.bytes), identities: [identity.ageIdentity]) { _ in
      IdentityHistory(identity.publicIdentity)
    }
    for changes in all { #expect(try reader.next()?.changes == changes) }
    #expect(try reader.next() == nil)
    // The great ones each end a frame, and 35 sets of 1,902 columns another one.
    #expect(reader.sizes.frames == 7)
  }

  @Test("a frame restores only what can be applied and passed on: columns named and rising, numbers, UTF-8")
  func wellFormed() throws {
    let table = ChangeSet.Table(
      name: "note", columnCount: 4, keyCount: 1,
      columns: [0, 1, 3].map { ChangeSet.Column(index: $0, name: "c\($0)") })
    func update(_ columns: [Int], _ value: [UInt8] = [0]) throws -> GodwitError.Code? {
      var writer = ByteWriter()
      for count in [1, 1] { writer.varint(count) }
      writer.lengthPrefixed(changes([table]) { _ in 0 })
      writer.lengthPrefixed([0, 0, 0, 0, 0, 1])  // one transaction of one operation
      var operations = ByteWriter()
      operations.varint(Operation.head(table: 0, kind: .update))
      operations.varint(columns.count)
      for column in columns { operations.varint(column) }
      writer.lengthPrefixed(operations.bytes)
      writer.lengthPrefixed([1, 2])
      for column in 1..<4 { writer.lengthPrefixed(columns.filter { $0 == column }.flatMap { _ in value }) }
      return read(writer.bytes).code
    }
    #expect(try update([1, 3]) == nil)
    #expect(try update([3, 1]) == .corruptFile)
    #expect(try update([1, 1]) == .corruptFile)
    #expect(try update([2]) == .corruptFile)
    #expect(try update([0]) == .corruptFile)
    #expect(try update([1], [2, 0x7F, 0xF8, 0, 0, 0, 0, 0, 0]) == .corruptFile)
    #expect(try update([1], [2, 0x7F, 0xF0, 0, 0, 0, 0, 0, 0]) == nil)
    #expect(try update([1], [3, 1, 0xFF]) == .corruptFile)
    #expect(try update([1], [1, 0x80, 0]) == .corruptFile)
    #expect(try update([1], [5]) == .corruptFile)
  }

  private func sets(_ count: Int, of elements: Int) -> [UInt8] {
    let table = ChangeSet.Table(
      name: "t", columnCount: 2, keyCount: 1,
      columns: [ChangeSet.Column(index: 0, name: "id"), ChangeSet.Column(index: 1, name: "tags", isRelative: true)])
    let set = SetElements.value(of: (0..<elements).map { "\($0)" })
    return changes([table]) { writer in
      for key in 0..<count {
        writer.varint(Operation.head(table: 0, kind: .insert))
        writer.value(.integer(Int64(key)))
        writer.value(set)
      }
      return count
    }
  }

  /// How many elements come out of a file packed to so many bytes, and why no more.
  private func readElements(_ frame: [UInt8], packed: Int) -> (count: Int, code: GodwitError.Code?) {
    var position = FramePosition([range(last: 1_000)])
    var expansion = SyncFileExpansion()
    var count = 0
    do {
      try expansion.unpack(frame.count, from: packed)
      var decoder = try FrameDecoder(frame, origins: [origin])
      while let record = try decoder.next(&position) {
        try expansion.restore(record.changes.count, elements: decoder.elements)
        count += decoder.elements
      }
      return (count, nil)
    } catch {
      return (count, (error as? GodwitError)?.code)
    }
  }

  @Test(
    "elements of sets are as many as 131,072, or a quarter of the packed bytes; few in each of many rows count for nothing"
  )
  func elements() throws {
    let large = try frame([sets(1, of: 100_016), sets(1, of: 60_016)])
    #expect(readElements(large, packed: 640_000) == (160_000, nil))
    #expect(readElements(large, packed: 639_999) == (100_000, .limitExceeded))
    #expect(try readElements(frame([sets(20_000, of: 16)]), packed: 50_000) == (0, nil))
  }

  @Test("a writer makes its file large enough for the elements it names")
  func elementsWritten() throws {
    var encoder = FrameEncoder(origins: [origin])
    for (place, count) in [100_016, 60_016, 16].enumerated() {
      try encoder.append(record(place + 1, sets(1, of: count)))
    }
    #expect(encoder.elements == 160_000)
    var part = [UInt8](repeating: 1, count: 1_000)
    var expansion = SyncFileExpansion()
    expansion.pad(&part, unpackedSize: 1_000, restoredSize: 1_000, elements: encoder.elements)
    #expect(part.count == 640_008)
    #expect(readElements(try encoder.finish(), packed: part.count) == (160_000, nil))
  }

  @Test("a row that a transaction names twice is refused, and so is a kind of operation that there is not")
  func repeatedRow() throws {
    let table = ChangeSet.Table(
      name: "t", columnCount: 1, keyCount: 1, columns: [ChangeSet.Column(index: 0, name: "id")])
    func operations(_ all: (kind: UInt64, key: Int64)...) throws -> [UInt8] {
      try frame([
        changes([table]) { writer in
          for (kind, key) in all {
            writer.varint(kind)
            writer.value(.integer(key))
          }
          return all.count
        }
      ])
    }
    #expect(try read(operations((2, 1), (0, 2))) == (1, nil))
    #expect(try read(operations((2, 1), (0, 1))) == (0, .corruptFile))
    #expect(throws: GodwitError.self) { try operations((3, 1)) }
  }

  @Test("transactions are as many as 8,192, or the packed bytes, and a writer makes its file large enough")
  func transactions() throws {
    func taken(packed: Int) throws -> Int {
      var expansion = SyncFileExpansion()
      try expansion.unpack(1_000, from: packed)
      var count = 0
      while count < 20_000, (try? expansion.addTransaction()) != nil { count += 1 }
      return count
    }
    #expect(try taken(packed: 100) == 8_192)
    #expect(try taken(packed: 10_000) == 10_000)
    var part = [UInt8](repeating: 1, count: 1_000)
    var expansion = SyncFileExpansion()
    expansion.pad(&part, unpackedSize: 1_000, restoredSize: 1_000, transactions: 20_000)
    #expect(try taken(packed: part.count) == 20_000)
  }
}
