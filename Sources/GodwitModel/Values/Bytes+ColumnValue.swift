import Foundation
import GodwitBase

extension String: ModelKey {
  /// TEXT.
  public static var storageType: StorageType { .text }
  /// Yes: `init()` gives the same value every time.
  public static var hasConstantDefault: Bool { true }
  /// Binds the text, NUL characters included.
  public func bind(to binder: borrowing ColumnBinder) throws { try binder.bind(self) }
  /// Reads a TEXT; throws `valueMismatch` for anything else, or when it is not UTF-8.
  public static func read(from reader: borrowing ColumnReader) throws -> String { try reader.text() }
  /// The text.
  public func storedValue() -> Value { .text(self) }
}

extension Data: ColumnValue {
  /// BLOB.
  public static var storageType: StorageType { .blob }
  /// Yes: `init()` gives the same value every time.
  public static var hasConstantDefault: Bool { true }
  /// Binds the bytes; no bytes are an empty BLOB, not NULL.
  public func bind(to binder: borrowing ColumnBinder) throws { try withUnsafeBytes { try binder.bind(blob: $0) } }
  /// Reads a BLOB; throws `valueMismatch` for anything else.
  public static func read(from reader: borrowing ColumnReader) throws -> Data {
    try reader.expect(.blob)
    return try reader.withBytes { $0.isEmpty ? Data() : Data($0) }
  }
  /// The bytes.
  public func storedValue() -> Value { .blob(Array(self)) }
}

extension UUID: ModelKey {
  /// BLOB of 16 bytes.
  public static var storageType: StorageType { .blob }
  /// Binds the 16 bytes in the order they are written.
  public func bind(to binder: borrowing ColumnBinder) throws {
    try withUnsafeBytes(of: uuid) { try binder.bind(blob: $0) }
  }
  /// Reads a BLOB of 16 bytes; throws `valueMismatch` for anything else.
  public static func read(from reader: borrowing ColumnReader) throws -> UUID {
    try reader.expect(.blob)
    return try reader.withBytes { bytes in
      guard bytes.count == 16 else { throw reader.mismatch("a UUID of 16 bytes") }
      return UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))
    }
  }
  /// The 16 bytes in the order they are written.
  public func storedValue() -> Value { withUnsafeBytes(of: uuid) { .blob(Array($0)) } }
}

extension URL: ColumnValue {
  /// TEXT.
  public static var storageType: StorageType { .text }
  /// Binds the absolute text.
  public func bind(to binder: borrowing ColumnBinder) throws { try binder.bind(absoluteString) }
  /// Reads a TEXT; throws `valueMismatch` when it is no URL.
  public static func read(from reader: borrowing ColumnReader) throws -> URL {
    guard let url = URL(string: try reader.text()) else { throw reader.mismatch("a URL") }
    return url
  }
  /// The absolute text.
  public func storedValue() -> Value { .text(absoluteString) }
}
