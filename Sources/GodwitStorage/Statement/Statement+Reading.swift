import CSQLCipher
import Foundation
import GodwitBase

/// SQLite's storage classes as a column reports them.
package enum StorageClass: Int32, Sendable {
  case integer = 1
  case real = 2
  case text = 3
  case blob = 4
  case null = 5

  package var name: String {
    switch self {
    case .integer: "INTEGER"
    case .real: "REAL"
    case .text: "TEXT"
    case .blob: "BLOB"
    case .null: "NULL"
    }
  }
}

extension Statement {
  package func storageClass(at index: Int32) -> StorageClass {
    StorageClass(rawValue: sqlite3_column_type(handle, index)) ?? .null
  }

  /// Compares numbers: `==` on the enum would go through its witness table from another module.
  package func holds(_ wanted: StorageClass, at index: Int32) -> Bool {
    sqlite3_column_type(handle, index) == wanted.rawValue
  }

  package func isNull(at index: Int32) -> Bool { sqlite3_column_type(handle, index) == SQLITE_NULL }
  package func integer(at index: Int32) -> Int64 { sqlite3_column_int64(handle, index) }
  package func real(at index: Int32) -> Double { sqlite3_column_double(handle, index) }

  /// The text, straight from SQLite's page into the String. Throws `valueMismatch` when it is not UTF-8.
  package func text(at index: Int32) throws -> String {
    guard let start = sqlite3_column_text(handle, index) else { return "" }
    let buffer = UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, index)))
    // Decoding repairs what is not UTF-8, so the bytes come back unchanged exactly when they were. The validating
    // initializer says the same, but takes three times as long.
    var text = String(decoding: buffer, as: UTF8.self)
    let isValid = text.withUTF8 {
      $0.count == buffer.count && memcmp($0.baseAddress ?? start, start, buffer.count) == 0
    }
    guard isValid else {
      throw GodwitError(.valueMismatch, "column \(columnName(Int(index))) holds text that is not UTF-8")
    }
    return text
  }

  /// Lends the bytes of a text or blob; they live until the next step or reset.
  package func withBytes<Result>(
    at index: Int32, _ body: (UnsafeRawBufferPointer) throws -> Result
  ) rethrows -> Result {
    let start = sqlite3_column_blob(handle, index)
    return try body(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, index))))
  }

  /// The bytes of a text and the NUL behind them, which live until the next step or reset; also what is not UTF-8.
  package func terminatedText(at index: Int32) -> (start: UnsafePointer<CChar>?, count: Int) {
    // In this order: only once it is text has it the number of bytes that it has as text.
    let start = UnsafeRawPointer(sqlite3_column_text(handle, index))?.assumingMemoryBound(to: CChar.self)
    return (start, Int(sqlite3_column_bytes(handle, index)))
  }

  package func blob(at index: Int32) -> [UInt8] { withBytes(at: index) { Array($0) } }

  package func value(at index: Int32) throws -> Value {
    switch storageClass(at: index) {
    case .null: .null
    case .integer: .integer(integer(at: index))
    case .real: .real(real(at: index))
    case .text: .text(try text(at: index))
    case .blob: .blob(blob(at: index))
    }
  }

  /// Appends the encoded value (Specs/encoding.md) without a copy in between.
  package func write(at index: Int32, to writer: inout ByteWriter) {
    switch storageClass(at: index) {
    case .null: writer.byte(ValueTag.null)
    case .integer: writer.integerValue(integer(at: index))
    case .real: writer.realValue(real(at: index))
    case .text: withBytes(at: index) { writer.bytesValue(ValueTag.text, $0) }
    case .blob: withBytes(at: index) { writer.bytesValue(ValueTag.blob, $0) }
    }
  }

  /// Appends the row with its values encoded, text as UTF-8 where the database has another encoding. Text that is in
  /// no encoding goes along as it is.
  package func writeForeignRow(to writer: inout ByteWriter) {
    for index in 0..<Int32(columnCount) {
      guard storageClass(at: index) == .text else {
        write(at: index, to: &writer)
        continue
      }
      // In this order: only once it is text has it the number of bytes that it has as text.
      let start = sqlite3_column_text(handle, index)
      let count = Int(sqlite3_column_bytes(handle, index))
      writer.bytesValue(ValueTag.text, UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count))
    }
  }
}
