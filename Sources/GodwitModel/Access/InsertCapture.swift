import GodwitBase

/// How the inserts into a table are captured.
package enum CapturedTable {
  /// Not at all.
  case none
  /// By its triggers alone.
  case byTriggers
  /// By its triggers, or by ``InsertCapture`` under this number while triggers are off.
  case direct(Int)
}

/// A change log that takes a model's row as it is inserted, without the detour through a trigger.
package protocol InsertCapture: AnyObject {
  func table(_ name: String) -> CapturedTable

  /// The columns in whose order the rows of a table are encoded.
  func columns(of table: Int) -> [String]

  /// Appends an insert: `encode` appends the row's encoded values, `store` inserts the row from those bytes. When
  /// either throws, nothing has been appended.
  func insert(
    table: Int, encode: (UnsafeMutablePointer<ByteWriter>) throws -> Void,
    store: (UnsafeRawBufferPointer) throws -> Void
  ) throws
}
