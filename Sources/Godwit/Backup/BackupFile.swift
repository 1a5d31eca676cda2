import Foundation
import GodwitBase
import GodwitFiles
import GodwitKeys
import GodwitStorage

/// The bytes of a backup: the database's pages, the keyring that opens them, and a footer (Specs/backup.md).
struct BackupFile {
  private static let magic = Array("GODWITBK".utf8)
  private static let version: UInt16 = 1
  private static let footerByteCount = 64
  private static let keyringByteCountMax = 16 << 20
  private static let blockByteCount = 1 << 18

  private let file: FileDescriptor
  private let databaseByteCount: Int
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
    var tail = ByteWriter(capacity: keyring.count + 2 * DatabaseFile.pageSize)
    tail.raw(keyring)
    while (tail.count + footerByteCount) % DatabaseFile.pageSize != 0 { tail.byte(0) }
    tail.raw(magic)
    tail.bigEndian(version)
    tail.raw([UInt8](repeating: 0, count: 6))
    tail.bigEndian(UInt64(databaseByteCount / DatabaseFile.pageSize))
    tail.bigEndian(UInt64(keyring.count))
    var hasher = ContentHasher()
    try forEachBlock(of: reading, byteCount: databaseByteCount) { hasher.update(Array($0)) }
    hasher.update(tail.bytes)
    tail.raw(hasher.finalize().bytes)
    try file.seekToEnd()
    try file.write(tail.bytes)
  }

  // MARK: Reading

  /// Reads the end of a backup. Nothing is proven yet.
  ///
  /// Throws `plaintextDatabase`, `corruptFile`, `unsupportedVersion`, `fileAccess`.
  init(_ path: String) throws {
    file = try FileDescriptor.openForReading(path)
    let size = try file.size()
    guard size >= DatabaseFile.pageSize + Self.footerByteCount else { throw Self.notABackup(path) }
    var reader = ByteReader(try Self.bytes(of: file, from: size - Self.footerByteCount, count: Self.footerByteCount))
    guard try reader.raw(Self.magic.count).elementsEqual(Self.magic) else { throw Self.notABackup(path) }
    let version: UInt16 = try reader.bigEndian()
    guard version == Self.version else {
      throw GodwitError(
        .unsupportedVersion, "the backup has version \(version); this program knows version \(Self.version)",
        hint: "update Godwit")
    }
    guard try reader.raw(6).allSatisfy({ $0 == 0 }) else { throw Self.damaged() }
    let pages: UInt64 = try reader.bigEndian()
    let keyringByteCount: UInt64 = try reader.bigEndian()
    guard keyringByteCount <= UInt64(Self.keyringByteCountMax), pages > 0, pages <= UInt64(size / DatabaseFile.pageSize)
    else { throw Self.damaged() }
    databaseByteCount = Int(pages) * DatabaseFile.pageSize
    let padding = size - databaseByteCount - Int(keyringByteCount) - Self.footerByteCount
    guard padding >= 0, padding < DatabaseFile.pageSize else { throw Self.damaged() }
    keyring = try Self.bytes(of: file, from: databaseByteCount, count: Int(keyringByteCount))
  }

  /// Copies the database's pages, and proves that no byte of the file has changed.
  ///
  /// - Parameter progress: Hears how much is done, from 0 to 1.
  func extract(to target: FileDescriptor, progress: (Double) throws -> Void) throws {
    var hasher = ContentHasher()
    var done = 0
    try Self.forEachBlock(of: file, byteCount: databaseByteCount) { block in
      try target.write(block)
      hasher.update(Array(block))
      done += block.count
      try progress(Double(done) / Double(databaseByteCount))
    }
    let end = try Self.bytes(of: file, from: databaseByteCount, count: file.size() - databaseByteCount)
    hasher.update(Array(end.dropLast(ContentHash.byteCount)))
    guard hasher.finalize().bytes == Array(end.suffix(ContentHash.byteCount)) else { throw Self.damaged() }
  }

  private static func bytes(of file: FileDescriptor, from offset: Int, count: Int) throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var position = 0
    while position < count {
      let read = bytes.withUnsafeMutableBytes { buffer in
        pread(file.rawValue, buffer.baseAddress?.advanced(by: position), count - position, off_t(offset + position))
      }
      guard read >= 0 || errno == EINTR else { throw GodwitError.file("read", file.path, errno) }
      guard read != 0 else { throw damaged() }
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

  private static func notABackup(_ path: String) -> GodwitError {
    GodwitError(.corruptFile, "\(path) is no backup, or its end is missing", hint: "take another copy of it")
  }

  private static func damaged() -> GodwitError {
    GodwitError(.corruptFile, "the backup is damaged", hint: "take another copy of it, or an earlier backup")
  }
}
