import GodwitBase
import GodwitKeys
import GodwitReplication
import GodwitSyncFile

/// How a change set is kept in the log: compressed when that saves at least an eighth (Specs/change-log.md).
final class LogCoder {
  private static let compressionThreshold = 256
  /// Made when first needed: small transactions and plain reading never do.
  private var compressor: Zstd?

  private func zstd() throws -> Zstd {
    if let compressor { return compressor }
    let made = try Zstd(level: 1)
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
    guard let (start, end, compressor) = captured.compressed, let frames = compressor.frames() else {
      return try zstd().withCompressed(changes) { try $0.count <= limit ? body($0, changes.count) : plain() }
    }
    var packed = try zstd().compress(Array(changes[..<start]))
    for frame in frames { packed += frame }
    if end < changes.count { packed += try zstd().compress(Array(changes[end...])) }
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
  func chain(after previous: ContentHash) -> ContentHash {
    var header = ByteWriter(capacity: 96)
    header.raw(previous.bytes)
    writeHeader(to: &header)
    var hasher = ContentHasher()
    hasher.update(header.bytes)
    hasher.update(changes)
    return hasher.finalize()
  }
}
