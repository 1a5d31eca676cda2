import Godwit
import GodwitBase
import GodwitCrypto
import GodwitKeys
import GodwitCore
import GodwitSyncFile

/// A file in the making: what an honest one says, for the hostile member to change.
struct HostileDraft {
  var sender: ReplicaID
  var incarnation: UInt32 = 1
  var createdAt: Int64
  var vector: VersionVector
  var recipients: [AgeRecipient]
  var roster: RosterRecords
  var tables: [TableDefinition]
  var ranges: [SyncFileHeader.Range] = []
  var chains: [Origin: SyncFileHeader.Chain]
  var floor = VersionVector()
  var ended: [Origin: SequenceNumber]
  var stateFile: StateHead?
  var acknowledgements: [SignedAcknowledgement] = []
  /// What stands in the frames, by the order of its causes.
  var records: [TransactionRecord] = []
  var items: [StateItem] = []
  /// What it knows from: another member's file, as that one made it.
  let source: SyncFileHeader
  let sourceRecords: [TransactionRecord]

  init(
    _ source: SyncFileHeader, _ records: [TransactionRecord], from face: HostileFace, to reader: PublicIdentity,
    at milliseconds: Int64
  ) {
    self.source = source
    sourceRecords = records
    sender = face.replica
    createdAt = milliseconds
    vector = source.vector
    let keys = Set([face.identity.publicIdentity.recipient, reader.recipient])
    recipients = keys.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
    roster = source.roster
    tables = source.tables
    chains = source.chains
    for range in source.ranges { chains[range.origin] = SyncFileHeader.Chain(range.chainAtEnd) }
    ended = source.ended
  }

  var header: SyncFileHeader {
    SyncFileHeader(
      group: source.group, sender: sender, incarnation: incarnation, createdAt: createdAt, vector: vector,
      held: source.held, schemaVersion: source.schemaVersion, recipients: recipients, roster: roster, tables: tables,
      migrations: source.migrations, ranges: ranges.sorted { $0.origin < $1.origin }, chains: chains, floor: floor,
      ended: ended, stateFile: stateFile, acknowledgements: acknowledgements)
  }

  /// Adds a member that the source may not know.
  mutating func introduce(_ record: MemberRecord) {
    guard !roster.members.contains(where: { $0.subject == record.subject }) else { return }
    roster.members = (roster.members + [record]).sorted { $0.subject < $1.subject }
  }

  /// Adds what one of its origins has written.
  mutating func append(_ range: SyncFileHeader.Range, _ written: some Sequence<TransactionRecord>) {
    ranges.append(range)
    vector[range.origin] = range.last
    records += written
  }

  /// The sealed file, made by the product's own writer.
  func seal(by face: HostileFace, introduction: RosterRecords) throws -> [UInt8] {
    let sink = MemorySink()
    let writer = try SyncFileWriter(header, introduction: introduction, signedBy: face.identity, to: sink)
    for item in items { try writer.append(item) }
    for record in records { try writer.append(record) }
    try writer.finish()
    return sink.bytes
  }
}

/// A container with whatever bytes in its parts, and true signatures.
struct HostileContainer {
  var header: [UInt8]
  /// Unpacked frames.
  var frames: [[UInt8]]
  /// Frames packed already, with the size that they are said to have.
  var packed: [(bytes: [UInt8], size: Int)] = []
  var count: Int

  init(_ draft: HostileDraft) throws {
    var writer = ByteWriter()
    let header = draft.header
    header.write(to: &writer)
    self.header = writer.bytes
    var encoder = FrameEncoder(header)
    for record in draft.records { try encoder.append(record) }
    frames = draft.records.isEmpty ? [] : [try encoder.finish()]
    count = draft.records.count
  }

  func seal(_ draft: HostileDraft, by face: HostileFace, introduction: RosterRecords) throws -> [UInt8] {
    let sink = MemorySink()
    let sealer = try AgeSealer(recipients: draft.recipients, to: sink)
    var transcript = SyncFileTranscript(sealer.binding)
    func emit(_ bytes: [UInt8], _ place: SyncFileTranscript.Place?) throws {
      transcript.add(bytes)
      try sealer.write(bytes)
      guard let place else { return }
      let signature = try face.identity.sign(transcript.message(at: place))
      transcript.add(signature)
      try sealer.write(signature)
    }
    var preamble = ByteWriter()
    preamble.raw(SyncFileFormat.magic)
    preamble.byte(SyncFileFormat.version)
    try SyncFilePreamble(
      group: draft.source.group, sender: face.replica, introduction: introduction, headerByteCount: header.count,
      headerHash: header.withUnsafeBytes { ContentHash(of: $0) }
    ).write(to: &preamble)
    try emit(preamble.bytes, .preamble)
    try emit(header, nil)
    let zstd = try Zstd(level: 3)
    for (bytes, size) in try frames.map({ (try zstd.compress($0), $0.count) }) + packed {
      var part = ByteWriter()
      part.byte(SyncFileFormat.Part.frame.rawValue)
      part.bigEndian(UInt32(bytes.count))
      part.bigEndian(UInt32(truncatingIfNeeded: size))
      part.raw(bytes)
      try emit(part.bytes, .part)
    }
    var trailer = ByteWriter()
    trailer.byte(SyncFileFormat.Part.trailer.rawValue)
    trailer.bigEndian(UInt64(count))
    try emit(trailer.bytes, .trailer)
    try sealer.finish()
    return sink.bytes
  }
}
