import GodwitBase
import GodwitKeys
import GodwitCore
import Testing

@testable import GodwitSyncFile

@Suite("Frames")
struct FrameTests {
  private let origins = (1...3).map {
    Origin(replica: ReplicaID(Identifier128(high: 7, low: UInt64($0))), incarnation: UInt32($0))
  }

  @Test("transactions come out byte for byte as they went in", arguments: UInt64(1)...50)
  func roundTrip(seed: UInt64) throws {
    var generator = Generator(state: seed)
    let records = RandomRecords.make(40, origins: origins, &generator)
    var encoder = FrameEncoder(origins: origins)
    for record in records { try encoder.append(record) }
    var decoder = try FrameDecoder(try encoder.finish(), origins: origins)
    var position = FramePosition(RandomRecords.ranges(records))
    for record in records {
      let found = try #require(try decoder.next(&position))
      #expect(found.dot == record.dot && found.hlc == record.hlc && found.schemaVersion == record.schemaVersion)
      #expect(found.context == record.context && found.changes == record.changes)
    }
    #expect(try decoder.next(&position) == nil)
    #expect(position.isAtEnd)
  }

  @Test("a changed frame is refused or read, but never traps", arguments: UInt64(1)...40)
  func mutations(seed: UInt64) throws {
    var generator = Generator(state: seed)
    let records = RandomRecords.make(10, origins: origins, &generator)
    var encoder = FrameEncoder(origins: origins)
    for record in records { try encoder.append(record) }
    let frame = try encoder.finish()
    for _ in 0..<200 {
      var changed = frame
      for _ in 0..<Int.random(in: 1...4, using: &generator) {
        let index = Int.random(in: changed.indices, using: &generator)
        switch Int.random(in: 0..<3, using: &generator) {
        case 0: changed[index] = UInt8.random(in: 0...255, using: &generator)
        case 1: changed.insert(UInt8.random(in: 0...255, using: &generator), at: index)
        default: if changed.count > 1 { changed.remove(at: index) }
        }
      }
      var position = FramePosition(RandomRecords.ranges(records))
      var read = 0
      do {
        var decoder = try FrameDecoder(changed, origins: origins)
        while try decoder.next(&position) != nil { read += 1 }
      } catch {
        #expect(error is GodwitError)
      }
      #expect(read <= records.count)
    }
  }

  @Test("every prefix of a frame is refused")
  func truncation() throws {
    var generator = Generator(state: 9)
    let records = RandomRecords.make(3, origins: origins, &generator)
    var encoder = FrameEncoder(origins: origins)
    for record in records { try encoder.append(record) }
    let frame = try encoder.finish()
    for length in 0..<frame.count {
      #expect(throws: GodwitError.self) { _ = try FrameDecoder(Array(frame.prefix(length)), origins: origins) }
    }
  }

  @Test("a frame that unpacks beyond what honest data reaches is refused before memory is taken")
  func bomb() throws {
    func isTaken(_ parts: (size: Int, packed: Int)...) -> Bool {
      var expansion = SyncFileExpansion()
      return (try? parts.forEach { try expansion.unpack($0.size, from: $0.packed) }) != nil
    }
    #expect(isTaken((1 << 20, 100)))
    #expect(!isTaken((1 << 20 + 1, 100)))
    #expect(isTaken((8 << 20, 1 << 20)) && !isTaken((8 << 20 + 1, 1 << 20)))
    // All of them together.
    #expect(isTaken((1 << 19, 100), (1 << 19, 100)) && !isTaken((1 << 19, 100), (1 << 19, 100), (1, 1)))
    #expect(isTaken((1 << 20, 4_096), (1 << 20, 4_096)))
    #expect(!isTaken((1 << 30, 1_000)) && !isTaken((5 << 28 + 1, 1 << 30)))
  }
}

/// Random transactions of several origins over two tables.
enum RandomRecords {
  static func make(_ count: Int, origins: [Origin], _ generator: inout Generator) -> [TransactionRecord] {
    let tables = [
      ChangeSet.Table(
        name: "note", columnCount: 4, keyCount: 1,
        columns: (0..<4).map { ChangeSet.Column(index: $0, name: "column \($0)", isRelative: $0 == 3) }),
      ChangeSet.Table(
        name: "pair", columnCount: 3, keyCount: 2, columns: (0..<3).map { ChangeSet.Column(index: $0, name: "c\($0)") }),
    ]
    var sequences: [Origin: SequenceNumber] = [:]
    var hlc: UInt64 = 1 << 40
    return (0..<count).map { _ in
      let origin = origins.randomElement(using: &generator) ?? origins[0]
      let sequence = (sequences[origin] ?? .none).next
      sequences[origin] = sequence
      hlc = hlc &+ UInt64.random(in: 0...90_000, using: &generator)
      // A context leaves out its transaction's own origin.
      let others = origins.filter { $0 != origin }.prefix(1).map { ($0, SequenceNumber(rawValue: 1 + hlc % 50)) }
      let context = Bool.random(using: &generator) ? nil : VersionVector(Dictionary(uniqueKeysWithValues: others))
      return TransactionRecord(
        dot: Dot(origin, sequence), hlc: HLC(rawValue: hlc), schemaVersion: hlc % 3, context: context,
        changes: changes(tables, &generator))
    }
  }

  static func ranges(_ records: [TransactionRecord]) -> [SyncFileHeader.Range] {
    Dictionary(grouping: records, by: \.dot.origin).map { origin, records in
      SyncFileHeader.Range(
        origin: origin, first: records[0].dot.sequence, last: records[records.count - 1].dot.sequence,
        chainBefore: .zero, chainAtEnd: .zero, contextAtFirst: VersionVector(),
        proof: HeadProof(signature: []))
    }
  }

  private static func changes(_ tables: [ChangeSet.Table], _ generator: inout Generator) -> [UInt8] {
    var writer = ByteWriter()
    let count = Int.random(in: 1...6, using: &generator)
    ChangeSet.writeHeader(tables: tables, operationCount: count, to: &writer)
    var keyNumber = 0
    /// Of a row that the transaction has not named.
    func writeKey(of number: Int) {
      for _ in 0..<tables[number].keyCount {
        keyNumber += 1
        writer.value(keyNumber % 2 == 0 ? .integer(Int64(keyNumber)) : .text("key \(keyNumber)"))
      }
    }
    func writeValue(of column: Int, in number: Int, _ kind: OperationKind, _ generator: inout Generator) {
      guard tables[number].columns[column].isRelative else { return writer.value(value(&generator)) }
      let set: Value = kind == .update ? "+1\n-\"a\"" : "[\"a\",2]"
      writer.value(Bool.random(using: &generator) ? set : .integer(Int64.random(in: -9...9, using: &generator)))
    }
    for _ in 0..<count {
      let number = Int.random(in: 0...1, using: &generator)
      let kind = [OperationKind.insert, .update, .delete].randomElement(using: &generator) ?? .delete
      writer.varint(Operation.head(table: number, kind: kind))
      writeKey(of: number)
      let free = tables[number].keyCount..<tables[number].columnCount
      switch kind {
      case .insert: for column in free { writeValue(of: column, in: number, kind, &generator) }
      case .update:
        let changed = free.filter { _ in Bool.random(using: &generator) }
        writer.varint(changed.count)
        for column in changed {
          writer.varint(column)
          writeValue(of: column, in: number, kind, &generator)
        }
      case .delete: break
      }
    }
    return writer.bytes
  }

  private static func value(_ generator: inout Generator) -> Value {
    switch Int.random(in: 0..<5, using: &generator) {
    case 0: .null
    case 1: .integer(Int64.random(in: .min ... .max, using: &generator))
    case 2: .real(Double.random(in: -1e9...1e9, using: &generator))
    case 3: .text(String(repeating: "ü", count: Int.random(in: 0...40, using: &generator)))
    default: .blob((0..<Int.random(in: 0...40, using: &generator)).map { UInt8($0) })
    }
  }
}

/// The same choices for the same seed.
struct Generator: RandomNumberGenerator {
  var state: UInt64
  mutating func next() -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return state ^ (state >> 29)
  }
}
