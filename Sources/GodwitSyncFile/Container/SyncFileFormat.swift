import GodwitBase

/// The constants of the container (Specs/sync-file.md).
package enum SyncFileFormat {
  package static let magic = Array("GODWIT\0".utf8)
  package static let version: UInt8 = 5
  /// Of files with a short header.
  package static let shortVersion: UInt8 = 6

  package enum Part: UInt8 {
    case frame = 1
    case trailer = 2
    case state = 3
  }

  static let headerByteLimit = 64 << 20
  static let frameByteLimit = 1 << 30
  /// A frame is closed once its transactions reach this size: what a reader takes of a part in any case, less what a
  /// transaction of common size has.
  static let frameTarget = 768 << 10
  /// Columns of all tables of a frame's dictionary: a frame is closed once they are so many.
  static let dictionaryColumnTarget = 1 << 16
  /// A transaction of the most tables and columns fits behind others.
  static let dictionaryColumnLimit = 1 << 21
  /// A block of a state file's state is closed once it reaches this size.
  static let stateTarget = 768 << 10
}
