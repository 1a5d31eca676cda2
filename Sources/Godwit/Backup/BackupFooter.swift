import GodwitBase
import GodwitCrypto
import GodwitKeys
import GodwitEngine
import GodwitStorage

/// The end of a backup, which says where its parts are (Specs/backup.md, "File").
struct BackupFooter: Equatable {
  static let byteCount = 64
  private static let magic = Array("GODWITBK".utf8)
  private static let version: UInt16 = 1

  let databaseByteCount: Int
  let keyringByteCount: Int
  /// Of all bytes of the file before it.
  let hash: ContentHash

  /// How many zeros make the file a whole number of pages.
  var paddingByteCount: Int {
    let rest = (keyringByteCount + Self.byteCount) % DatabaseFile.pageSize
    return rest == 0 ? 0 : DatabaseFile.pageSize - rest
  }

  private var fileByteCount: Int { databaseByteCount + keyringByteCount + paddingByteCount + Self.byteCount }

  init(databaseByteCount: Int, keyringByteCount: Int, hash: ContentHash) {
    self.databaseByteCount = databaseByteCount
    self.keyringByteCount = keyringByteCount
    self.hash = hash
  }

  /// Reads the last ``byteCount`` bytes of a file of that size.
  ///
  /// Throws `corruptFile`, `unsupportedVersion`.
  init(_ bytes: [UInt8], fileByteCount: Int) throws {
    var reader = ByteReader(bytes)
    guard try reader.raw(Self.magic.count).elementsEqual(Self.magic) else { throw Self.missing() }
    let version: UInt16 = try reader.bigEndian()
    guard version == Self.version else {
      throw GodwitError(
        .unsupportedVersion, "the backup has version \(version); this program knows version \(Self.version)",
        hint: "update Godwit")
    }
    guard try reader.raw(6).allSatisfy({ $0 == 0 }) else { throw Self.damaged() }
    let pages: UInt64 = try reader.bigEndian()
    let keyringByteCount: UInt64 = try reader.bigEndian()
    guard keyringByteCount <= UInt64(Keyring.byteCountMax), pages > 0,
      pages <= UInt64(fileByteCount / DatabaseFile.pageSize)
    else { throw Self.damaged() }
    databaseByteCount = Int(pages) * DatabaseFile.pageSize
    self.keyringByteCount = Int(keyringByteCount)
    guard let hash = ContentHash(bytes: try reader.raw(reader.remaining)) else { throw Self.damaged() }
    self.hash = hash
    guard self.fileByteCount == fileByteCount else { throw Self.damaged() }
  }

  /// All of it but the hash, which is over these bytes, too.
  func writeStart(to writer: inout ByteWriter) {
    writer.raw(Self.magic)
    writer.bigEndian(Self.version)
    writer.raw([UInt8](repeating: 0, count: 6))
    writer.bigEndian(UInt64(databaseByteCount / DatabaseFile.pageSize))
    writer.bigEndian(UInt64(keyringByteCount))
  }

  static func missing() -> GodwitError {
    GodwitError(.corruptFile, "the file is no backup, or its end is missing", hint: "take another copy of it")
  }

  static func damaged() -> GodwitError {
    GodwitError(.corruptFile, "the backup is damaged", hint: "take another copy of it, or an earlier backup")
  }
}
