import GodwitBase
import GodwitCrypto
import GodwitKeys
import GodwitCore
import GodwitSyncFile

/// How a change set is kept in the log: compressed when that saves at least an eighth (Specs/change-log.md).
final class LogCoder {
  static let compressionLevel: Int32 = 3
  private static let compressionThreshold = 256
  /// Made when first needed: small transactions and plain reading never do.
  private var compressor: Zstd?
  /// Kept between calls: memory of this size would be asked of the system each time.
  private var packed: [UInt8] = []

  private func zstd() throws -> Zstd {
    if let compressor { return compressor }
    let made = try Zstd(level: Self.compressionLevel)
    compressor = made
    return made
  }

  /// Lends the stored bytes and the size they unpack to; 0 says that they are not compressed.
  func withPacked<Output>(
    _ captured: Captured, _ body: (_ bytes: UnsafeRawBufferPointer, _ size: Int) throws -> Output
  ) throws -> Output {
    try captured.changes.withUnsafeBytes { changes in
      guard changes.count >= Self.compressionThreshold else { return try body(changes, 0) }
      let limit = changes.count - changes.count / 8
      func check(_ packed: UnsafeRawBufferPointer) throws -> Output {
        try packed.count <= limit ? body(packed, changes.count) : body(changes, 0)
      }
      guard let pieces = captured.pieces else { return try zstd().withCompressed(changes, check) }
      try pack(changes, pieces)
      return try packed.withUnsafeBytes(check)
    }
  }

  /// The frames that are ready, between one of what stands ahead of the operations and one of the rest.
  private func pack(_ changes: UnsafeRawBufferPointer, _ pieces: PieceWorker.Finished) throws {
    let start = ChangeSet.operationsStart(in: changes)
    packed.removeAll(keepingCapacity: true)
    try zstd().withCompressed(UnsafeRawBufferPointer(rebasing: changes[..<start])) { packed += $0 }
    for frame in pieces.frames { packed += frame }
    let rest = UnsafeRawBufferPointer(rebasing: changes[(start + pieces.end)...])
    if !rest.isEmpty { try zstd().withCompressed(rest) { packed += $0 } }
  }

  func unpack(_ bytes: [UInt8], size: Int) throws -> [UInt8] {
    guard size > 0 else { return bytes }
    guard size <= TransactionRecord.changesByteLimit else {
      throw GodwitError(.damagedLog, "a log entry claims \(size) bytes")
    }
    return try zstd().decompress(bytes, size: size)
  }
}

extension TransactionRecord {
  /// The origin's hash chain after this transaction (Specs/change-log.md, "Hash chain").
  package func chain(after previous: ContentHash, _ pieces: PieceWorker.Finished? = nil) -> ContentHash {
    previous.followed(by: digest(pieces))
  }

  /// The hash of record and change set (Specs/change-log.md, "Hash chain"). The operations come in as hashes of blocks,
  /// which several threads can make while the transaction runs.
  package func digest(_ pieces: PieceWorker.Finished? = nil) -> ContentHash {
    changes.withUnsafeBytes { changes in
      let start = ChangeSet.operationsStart(in: changes)
      var header = ByteWriter(capacity: 512)
      writeHeader(to: &header)
      header.raw(UnsafeRawBufferPointer(rebasing: changes[..<start]))
      for hash in pieces?.hashes ?? [] { header.raw(hash.bytes) }
      for block in stride(from: start + (pieces?.end ?? 0), to: changes.count, by: Self.hashBlockSize) {
        let end = min(block + Self.hashBlockSize, changes.count)
        header.raw(ContentHash(of: UnsafeRawBufferPointer(rebasing: changes[block..<end])).bytes)
      }
      return header.bytes.withUnsafeBytes { ContentHash(of: $0) }
    }
  }

  /// The operations of a change set are hashed in blocks of so many bytes.
  static let hashBlockSize = 16_384
}
