import GodwitBase
import GodwitKeys
import GodwitReplication
import GodwitSyncFile

/// How a change set is kept in the log: compressed when that saves at least an eighth (Specs/change-log.md).
final class LogCoder {
  static let compressionLevel: Int32 = 3
  private static let compressionThreshold = 256
  /// Made when first needed: small transactions and plain reading never do.
  private var compressor: Zstd?

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
    let changes = captured.changes
    func plain() throws -> Output { try changes.withUnsafeBytes { try body($0, 0) } }
    guard changes.count >= Self.compressionThreshold else { return try plain() }
    let limit = changes.count - changes.count / 8
    guard let pieces = captured.pieces else {
      return try zstd().withCompressed(changes) { try $0.count <= limit ? body($0, changes.count) : plain() }
    }
    let start = ChangeSet.operationsStart(in: changes)
    var packed = try zstd().compress(Array(changes[..<start]))
    for frame in pieces.frames { packed += frame }
    let rest = changes[(start + pieces.end)...]
    if !rest.isEmpty { packed += try zstd().compress(Array(rest)) }
    guard packed.count <= limit else { return try plain() }
    return try packed.withUnsafeBytes { try body($0, changes.count) }
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
  ///
  /// The operations have a hash of their own inside, so that it can be under way before the header is known.
  func chain(after previous: ContentHash, _ pieces: PieceWorker.Finished? = nil) -> ContentHash {
    let start = ChangeSet.operationsStart(in: changes)
    var operations = pieces?.hasher ?? ContentHasher()
    changes.withUnsafeBytes { operations.update(UnsafeRawBufferPointer(rebasing: $0[(start + (pieces?.end ?? 0))...])) }
    var header = ByteWriter(capacity: 512)
    header.raw(previous.bytes)
    writeHeader(to: &header)
    header.raw(changes[..<start])
    header.raw(operations.finalize().bytes)
    var hasher = ContentHasher()
    hasher.update(header.bytes)
    return hasher.finalize()
  }
}
