import Foundation
import GodwitBase
import GodwitFiles
import GodwitCrypto
import GodwitKeys
import GodwitStorage

/// The bytes of a backup: the database's pages, the keyring that opens them, and a footer (Specs/backup.md).
struct BackupFile {
  private static let blockByteCount = 1 << 18

  private let file: FileDescriptor
  private let footer: BackupFooter
  /// The keyring file.
  let keyring: [UInt8]

  // MARK: Writing

  /// Writes what belongs behind the database's pages.
  static func finish(_ file: PendingFile, keyring: [UInt8]) throws {
    let reading = try file.reopened()
    let databaseByteCount = try reading.size()
    guard databaseByteCount > 0, databaseByteCount.isMultiple(of: DatabaseFile.pageSize) else {
      throw GodwitError(.damagedDatabase, "the copy of the database is no whole number of pages")
    }
    let footer = BackupFooter(databaseByteCount: databaseByteCount, keyringByteCount: keyring.count, hash: .zero)
    var tail = ByteWriter(capacity: keyring.count + 2 * DatabaseFile.pageSize)
    tail.raw(keyring)
    tail.raw([UInt8](repeating: 0, count: footer.paddingByteCount))
    footer.writeStart(to: &tail)
    var hasher = ContentHasher()
    try forEachBlock(of: reading, byteCount: databaseByteCount) { hasher.update($0) }
    hasher.update(tail.bytes)
    tail.raw(hasher.finalize().bytes)
    try file.seekToEnd()
    try file.write(tail.bytes)
  }

  // MARK: Reading

  /// Reads the end of a backup. Nothing is proven yet.
  ///
  /// Throws `corruptFile`, `unsupportedVersion`, `fileAccess`.
  init(_ path: String) throws {
    file = try FileDescriptor.openPlainForReading(path)
    let size = try file.size()
    guard size >= BackupFooter.byteCount else { throw BackupFooter.missing() }
    let end = try Self.bytes(of: file, from: size - BackupFooter.byteCount, count: BackupFooter.byteCount)
    footer = try BackupFooter(end, fileByteCount: size)
    keyring = try Self.bytes(of: file, from: footer.databaseByteCount, count: footer.keyringByteCount)
  }

  /// What the database begins with.
  var salt: [UInt8] {
    get throws { try Self.bytes(of: file, from: 0, count: min(16, footer.databaseByteCount)) }
  }

  /// Copies the database's pages, and proves that no byte of the file has changed.
  ///
  /// - Parameter progress: Called with how much is done, from 0 to 1.
  func extract(to target: FileDescriptor, progress: (Double) throws -> Void) throws {
    var hasher = ContentHasher()
    var done = 0
    try Self.forEachBlock(of: file, byteCount: footer.databaseByteCount) { block in
      try target.write(block)
      hasher.update(block)
      done += block.count
      try progress(Double(done) / Double(footer.databaseByteCount))
    }
    let tail = try Self.bytes(
      of: file, from: footer.databaseByteCount,
      count: footer.keyringByteCount + footer.paddingByteCount + BackupFooter.byteCount - ContentHash.byteCount)
    hasher.update(tail)
    guard hasher.finalize() == footer.hash,
      tail[footer.keyringByteCount...].prefix(footer.paddingByteCount).allSatisfy({ $0 == 0 })
    else { throw BackupFooter.damaged() }
  }

  private static func bytes(of file: FileDescriptor, from offset: Int, count: Int) throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var position = 0
    while position < count {
      let read = bytes.withUnsafeMutableBytes { buffer in
        pread(file.rawValue, buffer.baseAddress?.advanced(by: position), count - position, off_t(offset + position))
      }
      guard read >= 0 || errno == EINTR else { throw GodwitError.file("read", file.path, errno) }
      guard read != 0 else { throw BackupFooter.damaged() }
      position += max(0, read)
    }
    return bytes
  }

  private static func forEachBlock(
    of file: FileDescriptor, byteCount: Int, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    var position = 0
    while position < byteCount {
      let block = try bytes(of: file, from: position, count: min(blockByteCount, byteCount - position))
      try block.withUnsafeBytes(body)
      position += block.count
    }
  }
}
