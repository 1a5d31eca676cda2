import CSQLCipher
import Foundation
import GodwitBase

/// The arguments of a SQL function call, valid only for its length.
package struct FunctionArguments: ~Copyable {
  package let count: Int
  private let values: UnsafeMutablePointer<OpaquePointer?>?

  init(count: Int, values: UnsafeMutablePointer<OpaquePointer?>?) {
    self.count = count
    self.values = values
  }

  package func integer(_ index: Int) -> Int { Int(sqlite3_value_int64(values?[index])) }

  /// Whether the argument is a REAL.
  package func isReal(_ index: Int) -> Bool { sqlite3_value_type(values?[index]) == SQLITE_FLOAT }

  /// Whether the argument is a REAL beyond what 64 bits hold, which SQLite makes of a sum of integers that is.
  package func isBeyondIntegers(_ index: Int) -> Bool {
    guard isReal(index) else { return false }
    return Int64(exactly: sqlite3_value_double(values?[index]).rounded()) == nil
  }

  /// One argument as a value. Throws `valueNotStorable` for a text that is not UTF-8.
  package func value(_ index: Int) throws -> Value {
    var writer = ByteWriter()
    try write(index, to: &writer)
    var reader = ByteReader(writer.bytes)
    return try reader.value()
  }

  /// Appends the encoded value (Specs/encoding.md) without a copy in between. Throws `valueNotStorable` for a text
  /// that is not UTF-8, which no other replica could read.
  package func write(_ index: Int, to writer: inout ByteWriter) throws {
    let value = values?[index]
    switch sqlite3_value_type(value) {
    case SQLITE_INTEGER: writer.integerValue(sqlite3_value_int64(value))
    case SQLITE_FLOAT: writer.realValue(sqlite3_value_double(value))
    case SQLITE_TEXT:
      let start = UnsafeRawPointer(sqlite3_value_text(value))
      let bytes = UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(value)))
      guard EncodedRow.isUTF8(bytes) else {
        throw GodwitError(.valueNotStorable, "a text is not UTF-8", hint: "store other bytes as a BLOB")
      }
      writer.bytesValue(ValueTag.text, bytes)
    case SQLITE_BLOB:
      let start = sqlite3_value_blob(value)
      writer.bytesValue(
        ValueTag.blob, UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(value))))
    default: writer.byte(ValueTag.null)
    }
  }

  /// Same storage class and same bytes. SQL's IS would call 1 and 1.0 equal, and 'a' and 'A' under NOCASE.
  package func isIdentical(_ first: Int, _ second: Int) -> Bool {
    let left = values?[first]
    let right = values?[second]
    let type = sqlite3_value_type(left)
    guard type == sqlite3_value_type(right) else { return false }
    switch type {
    case SQLITE_INTEGER: return sqlite3_value_int64(left) == sqlite3_value_int64(right)
    case SQLITE_FLOAT: return sqlite3_value_double(left).bitPattern == sqlite3_value_double(right).bitPattern
    case SQLITE_TEXT, SQLITE_BLOB:
      let leftStart = type == SQLITE_TEXT ? UnsafeRawPointer(sqlite3_value_text(left)) : sqlite3_value_blob(left)
      let rightStart = type == SQLITE_TEXT ? UnsafeRawPointer(sqlite3_value_text(right)) : sqlite3_value_blob(right)
      let count = sqlite3_value_bytes(left)
      guard count == sqlite3_value_bytes(right) else { return false }
      guard count > 0, let leftStart, let rightStart else { return true }
      return memcmp(leftStart, rightStart, Int(count)) == 0
    default: return true
    }
  }
}
