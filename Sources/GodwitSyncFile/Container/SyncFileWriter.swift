import GodwitBase
import GodwitCrypto
import GodwitKeys
import GodwitCore

/// Writes a sync file: signed preamble, header, signed frames of transactions, signed trailer, all sealed by age while
/// they are written. Memory is bounded by one frame.
package final class SyncFileWriter {
  private let sealer: AgeSealer
  private let identity: Identity
  private var transcript: SyncFileTranscript
  private var frame: FrameEncoder
  private let zstd: Zstd
  /// Transactions, or the blocks of a state file.
  private var count = 0
  private var state = ByteWriter()
  private var stateElements = 0
  private var expansion = SyncFileExpansion()

  /// Writes preamble and header. Throws `limitExceeded` for what every reader would refuse; nothing is written then.
  ///
  /// - Parameters:
  ///   - base: What the header builds on; nil to write it whole.
  ///   - introduction: The records by which a reader that has not met the sender can know it.
  package init(
    _ header: SyncFileHeader, on base: HeaderBase? = nil, introduction: RosterRecords = RosterRecords(),
    signedBy identity: Identity, to sink: any ByteSink
  ) throws {
    self.identity = identity
    zstd = try Zstd(level: 3)
    frame = FrameEncoder(header)
    try header.checkLimits()
    var body = ByteWriter()
    if let base { header.write(on: base, to: &body) } else { header.write(to: &body) }
    guard body.count <= SyncFileFormat.headerByteLimit else {
      throw GodwitError(
        .limitExceeded, "the header of a sync file would have \(body.count) bytes", hint: "nothing was written")
    }
    var writer = ByteWriter(capacity: 1_024)
    writer.raw(SyncFileFormat.magic)
    writer.byte(base == nil ? SyncFileFormat.version : SyncFileFormat.shortVersion)
    try SyncFilePreamble(
      group: header.group, sender: header.sender, introduction: introduction, headerByteCount: body.count,
      headerHash: body.bytes.withUnsafeBytes { ContentHash(of: $0) }
    ).write(to: &writer)
    sealer = try AgeSealer(recipients: header.recipients, to: sink)
    transcript = SyncFileTranscript(sealer.binding)
    try emit(writer.bytes, at: .preamble)
    try emit(body.bytes)
  }

  /// Adds a transaction. Those of one origin come in sequence; causes come before effects.
  package func append(_ record: TransactionRecord) throws {
    try frame.append(record)
    count += 1
    if frame.isFull { try flush() }
  }

  /// Adds an item of a state file's state.
  ///
  /// - Parameter contributions: How many the item has, when it is a row's state.
  package func append(_ item: StateItem, contributions: Int = 0) throws {
    item.write(to: &state)
    stateElements += max(0, contributions - FrameElements.freeCount)
    if state.count >= SyncFileFormat.stateTarget { try flush() }
  }

  /// Writes the trailer: nothing is valid without it.
  package func finish() throws {
    try flush()
    var writer = ByteWriter()
    writer.byte(SyncFileFormat.Part.trailer.rawValue)
    writer.bigEndian(UInt64(count))
    try emit(writer.bytes, at: .trailer)
    try sealer.finish()
  }

  private func flush() throws {
    if state.count > 0 {
      try emit(.state, state.bytes, elements: stateElements)
      state.removeAll()
      stateElements = 0
      count += 1
    }
    let (restored, elements, transactions) = (frame.restored, frame.elements, frame.transactionCount)
    if restored > 0 {
      try emit(.frame, frame.finish(), restored: restored, elements: elements, transactions: transactions)
    }
  }

  private func emit(
    _ part: SyncFileFormat.Part, _ raw: [UInt8], restored: Int = 0, elements: Int = 0, transactions: Int = 0
  ) throws {
    guard raw.count <= SyncFileExpansion.partByteLimit else {
      throw GodwitError(.limitExceeded, "a row or transaction is too large for a sync file: \(raw.count) bytes")
    }
    var packed = try zstd.compress(raw)
    expansion.pad(
      &packed, unpackedSize: raw.count, restoredSize: restored, elements: elements, transactions: transactions)
    var writer = ByteWriter(capacity: packed.count + 16)
    writer.byte(part.rawValue)
    writer.bigEndian(UInt32(packed.count))
    writer.bigEndian(UInt32(raw.count))
    writer.raw(packed)
    try emit(writer.bytes, at: .part)
  }

  /// Writes bytes, and the signature over all up to here.
  private func emit(_ bytes: [UInt8], at place: SyncFileTranscript.Place) throws {
    try emit(bytes)
    try emit(try identity.sign(transcript.message(at: place)))
  }

  private func emit(_ bytes: [UInt8]) throws {
    transcript.add(bytes)
    try sealer.write(bytes)
  }
}
