import GodwitBase
import GodwitCrypto
import GodwitKeys
import GodwitCore

@testable import Godwit
@testable import GodwitEngine
@testable import GodwitSyncFile

extension FuzzTarget {
  static let syncFileTargets = [syncFile, header, shortHeader, frame, stateBlock]

  /// A container as it comes out of the age layer: prologue, header, frames or blocks, trailer. Nobody's signature is
  /// asked for, so that all of it is read.
  static let syncFile = FuzzTarget(name: "sync-file") { bytes in
    let identity = try FuzzKeys.identity(1).ageIdentity
    let sink = MemorySink()
    let bytes = withHeaderHash(bytes)
    // The recipients that the header names, so that it is not refused for having others.
    let named = (try? headerBytes(of: bytes)).map { (try? SyncFileHeader(bytes: $0))?.recipients } ?? nil
    let sealer = try AgeSealer(recipients: named?.prefix(8).map { $0 } ?? [identity.recipient], to: sink)
    try sealer.write(bytes)
    try sealer.finish()
    let reader = try SyncFileReader(AgeEnvelope(MemorySource(sink.bytes)), identities: [identity]) { _ in .reported(nil)
    }
    if reader.header.stateFile == nil {
      while let record = try reader.next() { try checkChanges(record.changes) }
    } else {
      while try reader.nextBlock() != nil {}
    }
    try require(reader.sizes.container == bytes.count, "a file that was read to its end has other bytes")
  } starts: {
    var starts: [String: [UInt8]] = [:]
    for (name, header) in try SyncFileStarts.headers() { starts[name] = try SyncFileStarts.container(header) }
    return starts
  }

  /// The header has one form.
  static let header = FuzzTarget(name: "header") { bytes in
    let header = try SyncFileHeader(bytes: bytes)
    var writer = ByteWriter()
    header.write(to: &writer)
    try require(writer.bytes == bytes, "a header that is written again differs")
    // What importing asks of it before anything else.
    _ = [header.stateFile?.vector, header.stateFile?.floor]
    _ = header.stateFile?.transactionCount
    for migration in header.migrations { _ = try SchemaMigration(bytes: migration[...]) }
  } starts: {
    try SyncFileStarts.headers().mapValues { header in
      var writer = ByteWriter()
      header.write(to: &writer)
      return writer.bytes
    }
  }

  /// A header that builds on another one has one form, too.
  static let shortHeader = FuzzTarget(name: "short-header") { bytes in
    let base = try SyncFileStarts.base()
    var reader = ByteReader(bytes)
    let header = try SyncFileHeader(
      readingShort: &reader, from: FuzzKeys.origins[0].replica, in: FuzzKeys.group
    ) { _ in base.header }
    var writer = ByteWriter()
    header.write(on: HeaderBase(hash: try HeaderBase.hash(named: bytes), header: base.header), to: &writer)
    try require(writer.bytes == bytes, "a short header that is written again differs")
  } starts: {
    let base = try SyncFileStarts.base()
    return try SyncFileStarts.headers().filter { $0.value.canBuild(on: base.header) }.mapValues { header in
      var writer = ByteWriter()
      header.write(on: base, to: &writer)
      return writer.bytes
    }
  }

  /// A frame as it comes out of the compression. Transactions come out as they went in.
  static let frame = FuzzTarget(name: "frame") { bytes in
    let origins = FuzzKeys.origins
    let ranges = origins.map { SyncFileStarts.range($0, last: 1_000) }
    var position = FramePosition(ranges)
    var decoder = try FrameDecoder(bytes, origins: origins)
    var encoder = FrameEncoder(origins: origins)
    var records: [TransactionRecord] = []
    while let record = try decoder.next(&position) {
      try checkChanges(record.changes)
      try encoder.append(record)
      records.append(record)
    }
    position = FramePosition(ranges)
    decoder = try FrameDecoder(encoder.finish(), origins: origins)
    for record in records {
      guard let again = try decoder.next(&position) else { throw FuzzFault(description: "a transaction got lost") }
      try require(
        again.dot == record.dot && again.hlc == record.hlc && again.schemaVersion == record.schemaVersion
          && again.context == record.context && again.changes == record.changes,
        "a transaction that is packed again differs")
    }
    try require(try decoder.next(&position) == nil, "there is a transaction too many")
  } starts: {
    var starts: [String: [UInt8]] = [:]
    for (name, records) in SyncFileStarts.records {
      var encoder = FrameEncoder(origins: FuzzKeys.origins)
      for record in records { try encoder.append(record) }
      starts[name] = try encoder.finish()
    }
    return starts
  }

  /// A block of a state file's items, and the row states in them.
  static let stateBlock = FuzzTarget(name: "state-block") { bytes in
    let numbering = StateNumbering(FuzzKeys.origins)
    var reader = ByteReader(bytes)
    var writer = ByteWriter()
    while !reader.isAtEnd {
      let item = try StateItem(
        reading: &reader, tables: 4, origins: FuzzKeys.origins.count, migrations: Int(UInt32.max))
      item.write(to: &writer)
      switch item {
      case .row(_, let values): try values.withUnsafeBytes { row in _ = try unlessRefused { try checkRow(row) } }
      case .state(_, _, let state): _ = try unlessRefused { try checkRowState(Array(state), numbering) }
      case .transaction(_, let transaction): _ = try unlessRefused { try checkChanges(transaction.changes) }
      case .limbo(let kind, let table, let target, _, _):
        _ = try unlessRefused { try Limbo.Reason(kind: kind, table: table ?? 0, rest: target).map(\.bytes) }
      case .ahead: break
      }
    }
    try require(writer.bytes == bytes, "a block that is written again differs")
  } starts: {
    let record = SyncFileStarts.records["one"]?.first
    let key: [UInt8] = [1, 2]
    var items: [String: StateItem] = [
      "row": .row(table: 0, values: [1, 2, 3, 1, 65, 0, 4, 0]),
      "state": .state(table: 1, key: key[...], state: try ChangeStarts.rowStates()["all"]?[...] ?? []),
      "limbo": .limbo(kind: 1, targetTable: 2, target: key[...], table: 0, key: key[...]),
      "limbo-nothing": .limbo(kind: 0, targetTable: nil, target: key[...], table: 3, key: key[...]),
      "ahead": .ahead(table: 2, key: key[...], hlc: HLC(milliseconds: 1_700_000_000_000)),
    ]
    items["transaction"] = record.map {
      .transaction(origin: 1, StateTransaction($0, deletedCells: SyncFileStarts.deletedCells))
    }
    return items.mapValues { item in
      var writer = ByteWriter()
      item.write(to: &writer)
      return writer.bytes
    }
  }

  /// The container with the hash of the header that it has, so that a changed header is decoded.
  private static func withHeaderHash(_ container: [UInt8]) -> [UInt8] {
    guard let header = try? headerBytes(of: container) else { return container }
    var container = container
    let place = SyncFileFormat.magic.count + 1 + 16 + 16 + 4
    container.replaceSubrange(
      place..<place + ContentHash.byteCount, with: header.withUnsafeBytes { ContentHash(of: $0) }.bytes)
    return container
  }

  /// The header's bytes in a container.
  private static func headerBytes(of container: [UInt8]) throws -> [UInt8] {
    var reader = ByteReader(container)
    _ = try reader.raw(SyncFileFormat.magic.count + 1)
    let preamble = try SyncFilePreamble { Array(try reader.raw($0)) }
    _ = try reader.raw(SignedHead.signatureByteCount)
    return Array(try reader.raw(preamble.headerByteCount))
  }
}

extension HeaderBase {
  /// The one that a short header names.
  fileprivate static func hash(named bytes: [UInt8]) throws -> ContentHash {
    var reader = ByteReader(bytes)
    return try ContentHash(reading: &reader)
  }
}

extension SyncFileHeader {
  fileprivate init(bytes: [UInt8]) throws {
    var reader = ByteReader(bytes)
    try self.init(reading: &reader, from: FuzzKeys.origins[0].replica, in: FuzzKeys.group)
  }
}

/// Sync files to start from.
enum SyncFileStarts {
  static let tables = [
    ChangeSet.Table(
      name: "note", columnCount: 4, keyCount: 1,
      columns: (0..<4).map { ChangeSet.Column(index: $0, name: "c\($0)", isRelative: $0 == 3) }),
    ChangeSet.Table(
      name: "pair", columnCount: 3, keyCount: 2, columns: (0..<3).map { ChangeSet.Column(index: $0, name: "d\($0)") }),
  ]

  /// One operation of every kind.
  static let changes: [UInt8] = {
    var writer = ByteWriter()
    ChangeSet.writeHeader(tables: tables, operationCount: 3, to: &writer)
    writer.varint(Operation.head(table: 0, kind: .insert))
    for value: Value in ["key", 2.5, .null, -7] { writer.value(value) }
    writer.varint(Operation.head(table: 0, kind: .update))
    writer.value(.blob([1, 2]))
    writer.varint(2)
    for (column, value) in [(1, Value.null), (3, 1)] {
      writer.varint(column)
      writer.value(value)
    }
    writer.varint(Operation.head(table: 1, kind: .delete))
    for value: Value in [1, 2] { writer.value(value) }
    return writer.bytes
  }()

  /// What the rows were that these delete.
  static let deletedCells: [UInt8] = {
    var writer = ByteWriter()
    writer.value("gone")
    return writer.bytes
  }()

  private static func record(_ origin: Int, _ sequence: UInt64, context: VersionVector? = nil) -> TransactionRecord {
    TransactionRecord(
      dot: Dot(FuzzKeys.origins[origin], SequenceNumber(rawValue: sequence)),
      hlc: HLC(milliseconds: 1_700_000_000_000 + Int64(sequence)), schemaVersion: 1, context: context, changes: changes)
  }

  static let records: [String: [TransactionRecord]] = [
    "one": [record(0, 1)],
    "three": [
      record(0, 1), record(1, 1, context: VersionVector([FuzzKeys.origins[0]: SequenceNumber(rawValue: 1)])),
      record(0, 2),
    ],
  ]

  /// With a digest ahead, as of a transaction that waits at the sender.
  private static let proof = HeadProof(
    ahead: [.zero], signature: [UInt8](repeating: 7, count: SignedHead.signatureByteCount))

  static func range(_ origin: Origin, _ first: UInt64 = 1, last: UInt64) -> SyncFileHeader.Range {
    let context = first > 1 ? VersionVector([FuzzKeys.origins[2]: SequenceNumber(rawValue: 5)]) : VersionVector()
    return SyncFileHeader.Range(
      origin: origin, first: SequenceNumber(rawValue: first), last: SequenceNumber(rawValue: last), chainBefore: .zero,
      chainAtEnd: .zero, contextAtFirst: context, proof: proof)
  }

  /// What short headers build on.
  static func base() throws -> HeaderBase {
    HeaderBase(try header(ranges: [], acknowledgements: acknowledgements()))
  }

  static func headers() throws -> [String: SyncFileHeader] {
    let origins = FuzzKeys.origins
    let head = StateHead(
      origins: [
        StateHead.Origin(
          origin: origins[0], sequence: SequenceNumber(rawValue: 3), chain: .zero, folded: SequenceNumber(rawValue: 2),
          floor: SequenceNumber(rawValue: 1), floorChain: .zero, floorContext: VersionVector(), proof: proof)
      ], clock: HLC(milliseconds: 1_700_000_000_000))
    return [
      "empty": try header(ranges: []),
      "ranges": try header(ranges: [range(origins[0], last: 2), range(origins[1], 4, last: 4)]),
      "state-file": try header(ranges: [], stateFile: head),
      "hybrid": try header(kind: .hybrid, ranges: []),
      "fields": try header(
        ranges: [], fields: [SyncFileField(tag: 1, bytes: [1]), SyncFileField(tag: 9, bytes: [])]),
      "acknowledgements": try header(ranges: [], acknowledgements: acknowledgements()),
    ]
  }

  /// One that says just what the header says, and one that differs in all.
  private static func acknowledgements() throws -> [SignedAcknowledgement] {
    let roster = try FuzzKeys.roster()
    let origins = FuzzKeys.origins
    return [
      try SignedAcknowledgement.issue(
        group: FuzzKeys.group, incarnation: 1, at: 1_700_000_000_000,
        vector: VersionVector([origins[0]: SequenceNumber(rawValue: 3)]),
        chains: .zero, members: roster.statuses, ended: [origins[1]], by: FuzzKeys.identity(1)),
      try SignedAcknowledgement.issue(
        group: FuzzKeys.group, incarnation: 2, at: 1_600_000_000_000,
        vector: VersionVector([origins[2]: SequenceNumber(rawValue: 9)]),
        chains: .zero, members: RosterRecords(members: Array(roster.members.prefix(1))).statuses, ended: [],
        by: FuzzKeys.identity(2)),
    ]
  }

  private static func header(
    kind: AgeKeyKind = .x25519, ranges: [SyncFileHeader.Range], stateFile: StateHead? = nil,
    fields: [SyncFileField] = [],
    acknowledgements: [SignedAcknowledgement] = []
  ) throws -> SyncFileHeader {
    let recipients = try (1...2).map { try FuzzKeys.identity($0, kind).publicIdentity.recipient }
    let table = try TableDefinition(
      name: "note", keyCount: 1,
      columns: [
        ColumnDefinition(name: "id", type: .blob, isNullable: false),
        ColumnDefinition(name: "views", type: .integer, isNullable: false, defaultValue: 1, merge: .counter),
        ColumnDefinition(
          name: "folder", type: .any, isNullable: true, reference: Reference(table: "folder", onDelete: .setNull),
          check: "folder <> 'x'"),
      ], indexes: [IndexDefinition(columns: ["folder"], isUnique: false)])
    return SyncFileHeader(
      group: FuzzKeys.group, sender: FuzzKeys.origins[0].replica, incarnation: 1, createdAt: 1_700_000_000_000,
      vector: VersionVector([FuzzKeys.origins[0]: SequenceNumber(rawValue: 3)]), schemaVersion: 1,
      recipients: recipients.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) },
      roster: try FuzzKeys.roster(kind), tables: [table],
      migrations: [SchemaMigration(version: 1, name: "notes", steps: [.createTable(table)]).bytes], ranges: ranges,
      chains: [:], floor: VersionVector(), ended: [FuzzKeys.origins[1]: .none], stateFile: stateFile,
      acknowledgements: acknowledgements, fields: fields)
  }

  /// The whole container, signed by the first identity, as it lies in the age file.
  static func container(_ header: SyncFileHeader) throws -> [UInt8] {
    let kind = header.recipients.first?.kind ?? .x25519
    let identity = try FuzzKeys.identity(1, kind)
    let sink = MemorySink()
    let writer = try SyncFileWriter(header, signedBy: identity, to: sink)
    if header.stateFile != nil { try writer.append(.row(table: 0, values: [4, 1, 7, 1, 2, 0])) }
    if !header.ranges.isEmpty { for record in records["three"] ?? [] { try writer.append(record) } }
    try writer.finish()
    return try drain(AgeOpener(MemorySource(sink.bytes), identities: [identity.ageIdentity]))
  }
}
