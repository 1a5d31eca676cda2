import GodwitBase
import GodwitCore

@testable import Godwit
@testable import GodwitEngine
@testable import GodwitSyncFile

// Transactions that a reader could restore from their frame, and must not take. Ranges and chains are those of what it
// would restore, so that nothing else is wrong with them.
extension ContainerVectorRecordingTests {
  func recordTransactionForms(_ scene: VectorScene) async throws {
    let pair = try TransactionPair(scene)
    let (table, key) = (pair.table, pair.key)
    let (insert, update): (UInt8, UInt8) = (0, 1)
    let (x, y) = (pair.encoded("x"), pair.encoded("y"))
    try await good(
      "pair", "a transaction that inserts a row, and one that changes it", scene,
      [pair.file([update, 1, 1], [0: key, 1: x], whole: [update] + key + [1, 1] + x)])
    func wrong(
      _ name: String, _ title: String, tables: [ChangeSet.Table]? = nil, count: Int = 1, _ operations: [UInt8],
      _ streams: [Int: [UInt8]], whole: [UInt8]
    ) throws {
      try bad(
        name, title, scene, .corruptFile,
        pair.file(tables: tables ?? [table], count: count, operations, streams, whole: whole))
    }
    try wrong(
      "frame-column-order", "changed columns out of order", [update, 2, 2, 1], [0: key, 1: x, 2: y],
      whole: [update] + key + [2, 2] + y + [1] + x)
    try wrong(
      "frame-key-column", "a key column that is changed", [update, 1, 0], [0: key + key],
      whole: [update] + key + [1, 0] + key)
    let partly = ChangeSet.Table(
      name: table.name, columnCount: table.columnCount, keyCount: 1, columns: Array(table.columns.prefix(2)))
    try wrong(
      "frame-column-unnamed", "a changed column that the entry does not name", tables: [partly], [update, 1, 2],
      [0: key, 2: y], whole: [update] + key + [1, 2] + y)
    let other = pair.encoded(.blob([UInt8](repeating: 8, count: 16)))
    try wrong(
      "frame-insert-unnamed", "an insert into columns that the entry does not name", tables: [partly], [insert],
      [0: other, 1: x, 2: pair.encoded(.null), 3: pair.encoded(1), 4: pair.encoded(.null)],
      whole: [insert] + other + x + pair.encoded(.null, 1, .null))
    try wrong("frame-kind", "an operation of no kind", [3], [0: other], whole: [3] + other)
    try wrong("frame-no-operations", "a transaction without operations", count: 0, [], [:], whole: [])
    let values: [(String, String, [UInt8])] = [
      ("nan", "a number that is NaN", [2, 0x7F, 0xF8, 0, 0, 0, 0, 0, 0]),
      ("utf-8", "a text that is not UTF-8", [3, 1, 0xFF]),
      ("value-tag", "a value of a sixth storage class", [5]),
      ("value-varint", "an integer that is not in its shortest form", [1, 0x80, 0]),
    ]
    for (name, title, value) in values {
      try wrong(name, title, [update, 1, 1], [0: key, 1: value], whole: [update] + key + [1, 1] + value)
    }
    try recordHeads(scene, pair)
  }

  private func recordHeads(_ scene: VectorScene, _ pair: TransactionPair) throws {
    let (delete, key): (UInt8, [UInt8]) = (2, pair.key)
    try bad(
      "timestamp", "a timestamp of 2^62", scene, .corruptFile,
      pair.file(at: 1 << 62, [delete], [0: key], whole: [delete] + key))
    try bad(
      "flag", "a flag that is neither 0 nor 1", scene, .corruptFile,
      pair.file(flag: 2, [delete], [0: key], whole: [delete] + key))
    let itself = VersionVector([pair.origin: SequenceNumber.none.next])
    try bad(
      "context-own", "a context that names its transaction's own origin", scene, .corruptFile,
      pair.file(flag: 1, context: itself, [delete], [0: key], whole: [delete] + key))
    let (records, present) = (try scene.transactions, try Forgery.header(scene.container).header.present)
    let later = TransactionRecord(
      dot: records[0].dot, hlc: records[0].hlc, schemaVersion: 1, context: nil, changes: records[0].changes)
    try bad(
      "schema-version", "a transaction of a version that is not among the migrations", scene, .corruptFile,
      scene.replacingFrames(Forgery.frame(Forgery.raw([later, records[1]], present: present))) { header in
        let end = records[1].chain(after: later.chain(after: .zero))
        return header.changing(ranges: header.ranges.map { $0.changing(chainAtEnd: end) })
      })
    // The second transaction alone, and what comes before it.
    try bad(
      "context-before-own", "a context before a range that names the range's origin", scene, .corruptFile,
      scene.replacingFrames(Forgery.frame(Forgery.raw([records[1]], present: present)), count: 1) { header in
        let range = SyncFileHeader.Range(
          origin: pair.origin, first: records[1].dot.sequence, last: records[1].dot.sequence,
          chainBefore: records[0].chain(after: .zero), chainAtEnd: header.ranges[0].chainAtEnd,
          contextAtFirst: itself, proof: .none)
        return header.changing(ranges: [range])
      })
  }
}

/// Files of two transactions: one inserts a row, and another is what the caller gives.
private struct TransactionPair {
  private let scene: VectorScene
  let origin: Origin
  /// That of the row.
  let table: ChangeSet.Table
  /// The row's, encoded.
  let key: [UInt8]

  init(_ scene: VectorScene) throws {
    self.scene = scene
    let first = try scene.transactions[0]
    origin = first.dot.origin
    table = try ChangeSet(first.changes[...]).tables[0]
    var writer = ByteWriter()
    writer.value(.blob([UInt8](repeating: 7, count: 16)))
    key = writer.bytes
  }

  func encoded(_ values: Value...) -> [UInt8] {
    var writer = ByteWriter()
    for value in values { writer.value(value) }
    return writer.bytes
  }

  private func changes(_ tables: [ChangeSet.Table], count: Int, _ operations: [UInt8]) -> [UInt8] {
    var writer = ByteWriter()
    ChangeSet.writeHeader(tables: tables, operationCount: count, to: &writer)
    return writer.bytes + operations
  }

  /// - Parameters:
  ///   - operations: The second one's operation heads, and `streams` its values by column number, the key's at 0.
  ///   - whole: Its operations as a change set has them.
  func file(
    tables: [ChangeSet.Table]? = nil, at hlc: UInt64 = 1 << 40 + 1, flag: UInt8 = 0, context: VersionVector? = nil,
    count: Int = 1, _ operations: [UInt8], _ streams: [Int: [UInt8]], whole: [UInt8]
  ) throws -> [UInt8] {
    let row = [encoded("first"), encoded(.null), encoded(0), encoded(.null)]
    let tables = tables ?? [table]
    var heads = ByteWriter()
    for number in [0, 1 << 41, 0, 0, 0, 1] { heads.varint(number) }  // signed, a number is twice as great
    heads.varint(0)
    heads.signedVarint(Int64(hlc) - 1 << 40)
    heads.varint(0)
    heads.byte(flag)
    context?.write(to: &heads, besides: VersionVector())
    heads.varint(1)
    heads.varint(count)

    var writer = ByteWriter()
    for count in [2, 2] { writer.varint(count) }
    writer.lengthPrefixed(changes([table], count: 0, []))
    writer.lengthPrefixed(changes(tables, count: 0, []))
    writer.lengthPrefixed(heads.bytes)
    writer.lengthPrefixed([0] + operations)
    for stream in [key] + row { writer.lengthPrefixed(stream) }
    for place in 0...row.count { writer.lengthPrefixed(streams[place] ?? []) }

    func record(_ sequence: UInt64, _ hlc: UInt64, _ context: VersionVector?, _ changes: [UInt8]) -> TransactionRecord {
      TransactionRecord(
        dot: Dot(origin, SequenceNumber(rawValue: sequence)), hlc: HLC(rawValue: hlc), schemaVersion: 0,
        context: context, changes: changes)
    }
    let first = record(1, 1 << 40, nil, changes([table], count: 1, [0] + key + row.joined()))
    let second = record(2, hlc, context, changes(tables, count: count, whole))
    return try scene.replacingFrames(Forgery.frame(writer.bytes)) { header in
      let end = second.chain(after: first.chain(after: .zero))
      return header.changing(ranges: header.ranges.map { $0.changing(chainAtEnd: end) })
    }
  }
}
