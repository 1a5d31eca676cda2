import GodwitBase
import GodwitKeys
import GodwitReplication

/// Writes a sync file: header, frames of transactions, signed trailer, all sealed by age while they are written.
/// Memory is bounded by one frame.
package final class SyncFileWriter {
  private let sealer: AgeSealer
  private let identity: Identity
  private var hasher = ContentHasher()
  private var frame: FrameEncoder
  private let zstd: Zstd
  /// Transactions, or the blocks of a snapshot.
  private var count = 0
  private var state = ByteWriter()

  /// Writes the header. Throws `limitExceeded` for one that every reader would refuse; nothing is written then.
  package init(_ header: SyncFileHeader, signedBy identity: Identity, to sink: any ByteSink) throws {
    self.identity = identity
    zstd = try Zstd(level: 3)
    frame = FrameEncoder(origins: header.ranges.map(\.origin))
    try header.checkLimits()
    var body = ByteWriter()
    header.write(to: &body)
    guard body.count <= SyncFileFormat.headerByteLimit else {
      throw GodwitError(
        .limitExceeded, "the header of a sync file would have \(body.count) bytes", hint: "nothing was written")
    }
    sealer = try AgeSealer(recipients: header.recipients, to: sink)
    var writer = ByteWriter(capacity: body.count + 16)
    writer.raw(SyncFileFormat.magic)
    writer.byte(SyncFileFormat.version)
    writer.bigEndian(UInt32(body.count))
    writer.raw(body.bytes)
    try emit(writer.bytes)
  }

  /// Adds a transaction. Those of one origin come in sequence; causes come before effects.
  package func append(_ record: TransactionRecord) throws {
    try frame.append(record)
    count += 1
    if frame.isFull { try flush() }
  }

  /// Adds an item of a snapshot's state.
  package func append(_ item: SnapshotItem) throws {
    item.write(to: &state)
    if state.count >= SyncFileFormat.stateTarget { try flush() }
  }

  /// Writes the trailer: nothing is valid without it.
  package func finish() throws {
    try flush()
    var writer = ByteWriter()
    writer.byte(SyncFileFormat.Part.trailer.rawValue)
    writer.bigEndian(UInt64(count))
    try emit(writer.bytes)
    let message = SyncFileFormat.signatureContext + hasher.finalize().bytes
    try sealer.write(try identity.sign(message))
    try sealer.finish()
  }

  private func flush() throws {
    if state.count > 0 {
      try emit(.state, state.bytes)
      state.removeAll()
      count += 1
    }
    if frame.size > 0 { try emit(.frame, frame.finish()) }
  }

  private func emit(_ part: SyncFileFormat.Part, _ raw: [UInt8]) throws {
    guard raw.count <= SyncFileFormat.unpackedByteLimit else {
      throw GodwitError(.limitExceeded, "a row or transaction is too large for a sync file: \(raw.count) bytes")
    }
    var packed = try zstd.compress(raw)
    SyncFileFormat.pad(&packed, unpackedSize: raw.count)
    var writer = ByteWriter(capacity: packed.count + 16)
    writer.byte(part.rawValue)
    writer.bigEndian(UInt32(packed.count))
    writer.bigEndian(UInt32(raw.count))
    writer.raw(packed)
    try emit(writer.bytes)
  }

  private func emit(_ bytes: [UInt8]) throws {
    hasher.update(bytes)
    try sealer.write(bytes)
  }
}
