import GodwitBase
import GodwitCore

/// Counts the elements of sets in a frame, for which its file has to be large enough (``SyncFileExpansion``).
enum FrameElements {
  /// Checks the encoded value of a counter or set, and returns how many elements it names.
  static func checked(_ bytes: ArraySlice<UInt8>, in kind: OperationKind) throws -> Int {
    var reader = ByteReader(bytes)
    let value = try reader.value()
    try RelativeValue.check(value, in: kind)
    return count(value)
  }

  /// The same without a check, of a value that is written. Few elements take less than they are looked at for.
  static func written(_ bytes: ArraySlice<UInt8>) throws -> Int {
    guard bytes.count > smallByteCount, bytes.first == ValueTag.text else { return 0 }
    var reader = ByteReader(bytes)
    return count(try reader.value())
  }

  /// A value with its tag and length: what is shorter names no more elements than are free.
  private static let smallByteCount = 2 * freeCount
  /// So many of one value count for nothing: many small sets are many rows, which are merged a part at a time.
  static let freeCount = 16

  private static func count(_ value: Value) -> Int { max(0, RelativeValue.elementCount(value) - freeCount) }
}
