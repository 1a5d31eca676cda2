import GodwitBase
import GodwitCrypto
import GodwitKeys
import GodwitCore

/// How many bytes a sync file takes, found without sealing or signing it: its transactions are packed as
/// ``SyncFileWriter`` packs them.
package struct SyncFileSizer {
  /// The age header and the payload's nonce.
  private let envelope: Int
  /// What every container with this preamble has besides its header and its parts.
  private let fixed: Int

  /// Throws `limitExceeded` for what no writer would write.
  ///
  /// - Parameters:
  ///   - header: The files' header; its ranges and chains do not matter here.
  ///   - introduction: As the writer gets it.
  package init(_ header: SyncFileHeader, introduction: RosterRecords) throws {
    let counter = ByteCounter()
    // Of recipients of one kind every age header has the same size.
    _ = try AgeSealer(recipients: header.recipients, to: counter)
    envelope = counter.count
    var preamble = ByteWriter()
    try SyncFilePreamble(
      group: header.group, sender: header.sender, introduction: introduction, headerByteCount: 0, headerHash: .zero
    ).write(to: &preamble)
    let start = SyncFileFormat.magic.count + 1 + preamble.count + SignedHead.signatureByteCount
    let trailer = 1 + 8 + SignedHead.signatureByteCount
    fixed = start + trailer
  }

  /// The size of the sealed file whose header and parts take so many bytes.
  package func byteCount(header: Int, parts: Int) -> Int {
    let container = fixed + header + parts
    let (chunk, tag) = (AgeChunkCipher.plainByteCountMax, AgeChunkCipher.tagByteCount)
    return envelope + container + tag * max(1, (container + chunk - 1) / chunk)
  }
}

extension SyncFileSizer {
  /// The frames of a file, with their signatures.
  package struct Parts {
    private var frame: FrameEncoder
    private var expansion = SyncFileExpansion()
    private let zstd: Zstd
    /// Frames that are closed.
    private var closed = 0
    /// The open one, when it was last measured.
    private var measured = 0
    /// What came into it since, not packed.
    package private(set) var unmeasured = 0

    /// What a part has beside its packed bytes.
    private static let partByteCount = 1 + 4 + 4 + SignedHead.signatureByteCount
    /// What a transaction takes in a frame beside its changes and its head, and rather more.
    private static let headByteCount = 64

    /// - Parameters:
    ///   - origins: All whose transactions may come.
    ///   - present: All that the file's sender has.
    package init(origins: [Origin], present: VersionVector) throws {
      frame = FrameEncoder(origins: origins, present: present)
      zstd = try Zstd(level: 3)
    }

    /// What the frames take, without what came since the last measurement.
    package var least: Int { closed + measured }
    /// What they take when nothing of what came since is compressed: an estimate until ``measure()``.
    package var most: Int { least + unmeasured }

    package mutating func append(_ record: TransactionRecord) throws {
      if frame.transactionCount == 0 { unmeasured += Self.partByteCount }
      let before = frame.headsByteCount
      try frame.append(record)
      unmeasured += record.changes.count + frame.headsByteCount - before + Self.headByteCount
      // The zeros that its context may ask for.
      unmeasured += (record.context.map(FrameContexts.byteCount) ?? 0) / SyncFileExpansion.fileRatio
      guard frame.isFull else { return }
      closed += try Self.pack(&frame, &expansion, zstd)
      (measured, unmeasured) = (0, 0)
    }

    /// Packs the open frame, which stays open.
    package mutating func measure() throws {
      var (copy, reached) = (frame, expansion)
      measured = try Self.pack(&copy, &reached, zstd)
      unmeasured = 0
    }

    private static func pack(
      _ frame: inout FrameEncoder, _ expansion: inout SyncFileExpansion, _ zstd: Zstd
    ) throws -> Int {
      let (restored, elements, transactions) = (frame.restored, frame.elements, frame.transactionCount)
      guard restored > 0 else { return 0 }
      let raw = try frame.finish()
      var packed = try zstd.compress(raw)
      expansion.pad(
        &packed, unpackedSize: raw.count, restoredSize: restored, elements: elements, transactions: transactions)
      return packed.count + partByteCount
    }
  }
}

extension SyncFileHeader {
  /// What it takes in a file.
  package var byteCount: Int {
    var writer = ByteWriter()
    write(to: &writer)
    return writer.count
  }
}

/// Counts bytes, and keeps none.
private final class ByteCounter: ByteSink {
  private(set) var count = 0

  func write(_ buffer: UnsafeRawBufferPointer) throws { count += buffer.count }
}
