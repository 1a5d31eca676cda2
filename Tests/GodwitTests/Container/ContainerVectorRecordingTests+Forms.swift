import GodwitBase
import GodwitCore

@testable import Godwit
@testable import GodwitEngine
@testable import GodwitCrypto
@testable import GodwitKeys
@testable import GodwitSyncFile

// What stands in a header or a frame, and is refused where it is not of its form.
extension ContainerVectorRecordingTests {
  /// Tables as bytes: some that there can be, others that no table has.
  func recordTables(_ scene: VectorScene) async throws {
    let named = try TableDefinition(
      name: "tree", keyCount: 1,
      columns: [
        ColumnDefinition(name: "id", type: .blob, isNullable: false),
        ColumnDefinition(name: "visits", type: .integer, isNullable: false, check: "visits >= 0", merge: .counter),
        ColumnDefinition(name: "tags", type: .text, isNullable: false, defaultValue: "[]", merge: .addWinsSet),
        ColumnDefinition(name: "best", type: .real, isNullable: true, merge: .maximum),
        ColumnDefinition(name: "least", type: .any, isNullable: true, check: "least <> ''", merge: .minimum),
        ColumnDefinition(
          name: "parent", type: .blob, isNullable: true,
          reference: Reference(table: "tree", onDelete: .setNull, isAcyclic: true), check: "parent <> x''"),
      ], indexes: [IndexDefinition(columns: ["best"], isUnique: false)], deletes: .deleteWins)
    try await good(
      "table", "a table with every bit that a table and its columns may have", scene,
      [scene.replacingHeader { $0.changing(tables: $0.tables + [named]) }])

    // Name, table bits, key count, column count; columns of name, type, bits and what these announce; index count.
    let key: [UInt8] = [2, 0x69, 0x64, 4, 0]
    func column(_ bits: UInt8, type: UInt8 = 1, then rest: [UInt8] = []) -> [UInt8] { [1, 0x63, type, bits] + rest }
    func table(named name: String = "t", bits: UInt8 = 1, _ columns: [UInt8]) -> [UInt8] {
      [UInt8(name.utf8.count)] + Array(name.utf8) + [bits, 1, 2] + columns + [0]
    }
    let cases: [(String, String, GodwitError.Code, [UInt8])] = [
      ("table-bits", "table bit 8", .corruptFile, table(bits: 9, key + column(0))),
      ("column-bits", "column bit 64", .corruptFile, table(key + column(64))),
      ("column-acyclic", "an acyclic reference without a reference", .corruptFile, table(key + column(33))),
      ("column-policy-0", "merge policy 0", .corruptFile, table(key + column(16, then: [0]))),
      ("column-policy-6", "merge policy 6", .corruptFile, table(key + column(16, then: [6]))),
      ("column-type", "column type 6", .corruptFile, table(key + column(0, type: 6))),
      ("column-count", "1,903 columns", .limitExceeded, [1, 0x74, 1, 1, 0xEF, 0x0E] + key),
      ("table-numbered", "a synced table that numbers its rows", .invalidSchema, table(bits: 3, key + column(0))),
      ("table-name", "a name that is Godwit's own", .invalidSchema, table(named: "godwit_t", key + column(0))),
      ("table-empty-name", "a table without a name", .invalidSchema, table(named: "", key + column(0))),
      (
        "column-twice", "a column named as another but for its case", .invalidSchema,
        table(key + [2, 0x49, 0x44, 1, 0])
      ),
      ("column-nullable-key", "a key that may be NULL", .invalidSchema, table([2, 0x69, 0x64, 4, 1] + column(0))),
      ("column-key-policy", "a key with a merge policy", .invalidSchema, table([2, 0x69, 0x64, 4, 16, 3] + column(0))),
      ("column-counter", "a counter that may be NULL", .invalidSchema, table(key + column(17, then: [1]))),
      (
        "column-check", "a check that ends its parentheses", .invalidSchema,
        table(key + column(8, then: [5] + Array("1) (1".utf8)))
      ),
    ]
    let marker = try TableDefinition(
      name: "a table to be replaced", keyCount: 1,
      columns: [ColumnDefinition(name: "x", type: .any, isNullable: false)])
    var old = ByteWriter()
    marker.write(to: &old)
    for (name, title, code, bytes) in cases {
      try bad(
        name, title, scene, code,
        scene.patchingHeader(old.bytes, bytes) { $0.changing(tables: $0.tables + [marker]) })
    }
  }

  func recordHeaderForms(_ scene: VectorScene) async throws {
    let origins = [1, 2].map { Origin(replica: scene.reader.replica, incarnation: $0) }
    let vector = VersionVector([origins[0]: SequenceNumber(rawValue: 300), origins[1]: SequenceNumber(rawValue: 5)])
    let chain = [UInt8](repeating: 1, count: 32).withUnsafeBytes { ContentHash(of: $0) }
    var held = ByteWriter()
    vector.write(to: &held)
    func forgotten(_ header: SyncFileHeader) -> SyncFileHeader {
      header.changing(
        vector: header.vector.union(vector), chains: [origins[0]: .init(chain), origins[1]: .init(chain)], floor: vector
      )
    }
    try await good(
      "floor-and-ended", "what the sender has forgotten, and incarnations that have ended", scene,
      [scene.replacingHeader { forgotten($0).changing(ended: [origins[0]: .init(rawValue: 300), origins[1]: .none]) }])
    try await good(
      "held", "what waits at the sender", scene, [scene.replacingHeader { $0.changing(held: vector) }])
    for (name, title, bytes) in [
      ("none", "a field of what waits, and nothing does", [0]),
      ("longer", "a byte behind what waits", held.bytes + [0]),
    ] {
      try bad(
        "held-\(name)", title, scene, .corruptFile,
        scene.replacingHeader { $0.changing(fields: [SyncFileField(tag: 21, bytes: bytes)]) })
    }
    try await good(
      "two-chunks", "a header of more than one chunk of age", scene,
      [
        scene.replacingHeader {
          $0.changing(fields: [SyncFileField(tag: 1, bytes: [UInt8](repeating: 0, count: 1 << 16))])
        }
      ])

    var bytes = ByteWriter()
    vector.write(to: &bytes)
    // 20 bytes of origin, two of the sequence; 20 and one.
    let (first, second) = (Array(bytes.bytes[1..<23]), Array(bytes.bytes[23...]))
    let origin = Array(second.dropLast())
    let end: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x1F]
    let vectors: [(String, String, [[UInt8]])] = [
      ("vector-order", "a vector out of order", [[2], second, first]),
      ("vector-twice", "a vector that lists an origin twice", [[2], second, second]),
      ("vector-zero", "a vector that lists an origin at 0", [[2], first, origin, [0]]),
      ("vector-end", "a sequence of 2^40 - 1", [[2], first, origin, end]),
      ("varint", "a number that is not in its shortest form", [[0x82, 0], first, second]),
      ("varint-long", "a number beyond 64 bits", [[2], first, origin, [UInt8](repeating: 0xFF, count: 9), [2]]),
    ]
    for (name, title, patch) in vectors {
      try bad(name, title, scene, .corruptFile, scene.patchingHeader(bytes.bytes, Array(patch.joined()), forgotten))
    }
    try bad(
      "members-order", "member records out of order", scene, .corruptFile,
      scene.replacingHeader { $0.changing(roster: .init(members: $0.roster.members.reversed()), acknowledgements: []) })
    try bad(
      "members-twice", "a member record that comes twice", scene, .corruptFile,
      scene.replacingHeader {
        $0.changing(roster: .init(members: [$0.roster.members[0], $0.roster.members[0]]), acknowledgements: [])
      })
    func ranges(_ incarnations: [UInt32]) throws -> [UInt8] {
      try scene.replacingHeader { header in
        let more = incarnations.map { incarnation in
          SyncFileHeader.Range(
            origin: Origin(replica: scene.sender.replica, incarnation: incarnation), first: .none.next,
            last: .none.next, chainBefore: .zero, chainAtEnd: chain, contextAtFirst: VersionVector(), proof: .none)
        }
        return header.changing(ranges: more)
      }
    }
    try bad("ranges-order", "ranges out of order", scene, .corruptFile, ranges([2, 1]))
    try bad("ranges-twice", "two ranges of one origin", scene, .corruptFile, ranges([1, 1]))
    try bad(
      "context-before", "a context before the first transaction", scene, .corruptFile,
      scene.replacingHeader { $0.changing(ranges: $0.ranges.map { $0.changing(contextAtFirst: vector) }) })
    try bad(
      "chain-before-fits", "a chain before the first transaction, and the chain at the end that follows from it", scene,
      .corruptFile,
      scene.replacingHeader { header in
        let end = try scene.transactions.reduce(chain) { $1.chain(after: $0) }
        return header.changing(ranges: header.ranges.map { $0.changing(chainBefore: chain, chainAtEnd: end) })
      })
    let identity = try Forgery.header(scene.container).header.roster.members[0].identity
    var replica = ByteWriter()
    identity.replica.value.write(to: &replica)
    let low = [1] + [UInt8](repeating: 0, count: 31)
    try bad(
      "small-order-verification", "a member record with a key of small order", scene, .invalidKey,
      scene.patchingHeader(identity.verificationKey, low))
    try bad(
      "small-order-agreement", "a member record with a key of small order to seal to", scene, .invalidKey,
      scene.patchingHeader(replica.bytes + identity.recipient.bytes, replica.bytes + low))
  }

  /// What is wrong inside a frame, so that its transactions cannot be read.
  func recordFrameForms(_ scene: VectorScene) throws {
    let records = try scene.transactions
    let table = try ChangeSet(records[0].changes[...]).tables[0]
    let key = Value.blob([UInt8](repeating: 7, count: 16))
    func frame(_ name: String, _ title: String, _ code: GodwitError.Code, _ raw: [UInt8]) throws {
      try bad(name, title, scene, code, scene.replacingFrames(Forgery.frame(raw), count: 1))
    }
    func changes(_ tables: [ChangeSet.Table], count: Int = 1, _ operations: [UInt8]) -> [UInt8] {
      var writer = ByteWriter()
      ChangeSet.writeHeader(tables: tables, operationCount: count, to: &writer)
      return writer.bytes + operations
    }
    func encoded(_ values: Value...) -> [UInt8] {
      var writer = ByteWriter()
      for value in values { writer.value(value) }
      return writer.bytes
    }
    /// A frame of one transaction of one operation.
    func raw(
      dictionary: [UInt8]? = nil, origin: Int = 0, entry: Int = 0, count: Int = 1, operations: [UInt8],
      streams: [Int: [UInt8]] = [:], more: [UInt8] = []
    ) -> [UInt8] {
      var heads = ByteWriter()
      heads.varint(origin)
      heads.signedVarint(1 << 40)
      for byte in [0, 0] { heads.varint(byte) }  // schema version, no context
      heads.varint(entry)
      heads.varint(count)
      var writer = ByteWriter()
      for count in [1, 1] { writer.varint(count) }
      writer.lengthPrefixed(dictionary ?? changes([table], count: 0, []))
      writer.lengthPrefixed(heads.bytes)
      writer.lengthPrefixed(operations)
      for place in 0..<(table.columnCount - table.keyCount + 1) { writer.lengthPrefixed(streams[place] ?? []) }
      return writer.bytes + more
    }
    let (update, delete): (UInt8, UInt8) = (1, 2)
    let keys = [0: encoded(key)]
    try frame(
      "frame-origin", "an origin beyond the ranges", .limitExceeded,
      raw(origin: 1, operations: [delete], streams: keys))
    try frame(
      "frame-entry", "a dictionary entry beyond the last", .limitExceeded,
      raw(entry: 1, operations: [delete], streams: keys))
    try frame("frame-table", "a table beyond the entry's", .corruptFile, raw(operations: [4 | delete], streams: keys))
    try frame(
      "frame-column", "a column beyond the table's", .limitExceeded, raw(operations: [update, 1, 100], streams: keys))
    try frame(
      "frame-no-tables", "a dictionary entry without tables", .corruptFile,
      raw(dictionary: changes([], count: 0, []), count: 0, operations: []))
    try frame(
      "frame-entry-operations", "a dictionary entry with operations", .corruptFile,
      raw(dictionary: changes([table], [delete] + encoded(key)), operations: [delete], streams: keys))
    try frame(
      "frame-stream-longer", "a stream that no operation uses up", .corruptFile,
      raw(operations: [delete], streams: [0: encoded(key, key)]))
    try frame(
      "frame-stream-cut", "a stream that ends inside a value", .truncatedFile,
      raw(operations: [delete], streams: [0: Array(encoded(key).dropLast())]))
    try frame(
      "frame-longer", "a byte behind the streams", .corruptFile,
      raw(operations: [delete], streams: keys, more: [0]))
    try recordFrameLimits(scene)
  }

  /// Small files that would become large.
  private func recordFrameLimits(_ scene: VectorScene) throws {
    let wide = (0..<4).map { place in
      ChangeSet.Table(
        name: "t\(place)", columnCount: 1_902, keyCount: 1,
        columns: (0..<1_902).map { ChangeSet.Column(index: $0, name: String(repeating: "c", count: 120)) })
    }
    func entry(_ tables: [ChangeSet.Table]) -> [UInt8] {
      var writer = ByteWriter()
      ChangeSet.writeHeader(tables: tables, operationCount: 0, to: &writer)
      return writer.bytes
    }
    var heads = ByteWriter()
    for place in 0..<2_000 {
      heads.varint(0)
      heads.signedVarint(place == 0 ? 1 << 40 : 1)
      for number in [0, 0, 0, 1] { heads.varint(number) }
    }
    var restored = ByteWriter()
    for count in [2_000, 1] { restored.varint(count) }
    restored.lengthPrefixed(entry(wide))
    restored.lengthPrefixed(heads.bytes)
    restored.lengthPrefixed([UInt8](repeating: 2, count: 2_000))
    restored.lengthPrefixed([[UInt8]](repeating: [1, 2], count: 2_000).joined())
    restored.raw([UInt8](repeating: 0, count: 4 * 1_902 - 1))
    try bad(
      "frame-restored", "a frame that would restore 1.8 GB", scene, .limitExceeded,
      scene.replacingFrames(Forgery.frame(restored.bytes), count: 2_000) { header in
        header.changing(ranges: header.ranges.map { $0.changing(last: SequenceNumber(rawValue: 2_000)) })
      })

    var columns = ByteWriter()
    for count in [1, 1_103] { columns.varint(count) }
    let narrow = ChangeSet.Table(name: "t", columnCount: 1_902, keyCount: 1, columns: [.init(index: 0, name: "id")])
    for _ in 0..<1_103 { columns.lengthPrefixed(entry([narrow])) }
    columns.raw([UInt8](repeating: 0, count: 2 + 1_103 * 1_902))
    try bad(
      "frame-columns", "a frame whose tables have more than 2^21 columns", scene, .limitExceeded,
      scene.replacingFrames(Forgery.frame(columns.bytes), count: 1))
  }
}
