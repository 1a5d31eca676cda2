import GodwitBase

/// The constants of the container (Specs/sync-file.md).
enum SyncFileFormat {
  static let magic = Array("GODWIT\0".utf8)
  static let version: UInt8 = 2

  enum Part: UInt8 {
    case frame = 1
    case trailer = 2
    case state = 3
  }

  static let headerByteLimit = 64 << 20
  static let frameByteLimit = 1 << 30
  /// A frame is closed once its transactions reach this size.
  static let frameTarget = 4 << 20
  /// Once so many bytes of change sets have come out of a frame no transaction follows in it.
  static let restoredByteLimit = 64 << 20
  /// Columns of all tables of a frame's dictionary: a frame is closed once they are so many.
  static let dictionaryColumnTarget = 1 << 16
  /// A transaction of the most tables and columns fits behind others.
  static let dictionaryColumnLimit = 1 << 21
  /// A block of a snapshot's state is closed once it reaches this size.
  static let stateTarget = 1 << 20
  /// A frame may unpack to this size in any case, and beyond it only at a ratio that honest data reaches.
  static let unpackedByteAllowance = 64 << 20
  static let unpackedRatioLimit = 256
  static let unpackedByteLimit = 5 << 28

  /// Brings a frame that compresses beyond the reader's ratio within it, by a skippable frame of zeros
  /// (RFC 8878, section 3.1.2).
  static func pad(_ packed: inout [UInt8], unpackedSize size: Int) {
    guard size > unpackedByteAllowance, packed.count * unpackedRatioLimit < size else { return }
    let padding = size / unpackedRatioLimit + 1 - packed.count
    var writer = ByteWriter(capacity: padding + 8)
    for number in [UInt32(0x184D_2A50), UInt32(padding)] { writer.bigEndian(number.byteSwapped) }
    packed += writer.bytes + [UInt8](repeating: 0, count: padding)
  }

  static func checkUnpacked(size: Int, packed: Int) throws {
    let allowed = min(unpackedByteLimit, max(unpackedByteAllowance, packed * unpackedRatioLimit))
    guard size <= allowed else {
      throw GodwitError(.limitExceeded, "a frame of \(packed) bytes claims to unpack to \(size)")
    }
  }
}
