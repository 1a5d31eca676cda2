import Foundation
import GodwitBase

extension String: ModelKey {
  public static var storageType: StorageType { .text }
  public static var hasConstantDefault: Bool { true }
  public func bind(to binder: borrowing ColumnBinder) throws { try binder.bind(self) }
  public static func read(from reader: borrowing ColumnReader) throws -> String { try reader.text() }
  public func storedValue() -> Value { .text(self) }
}

extension Data: ColumnValue {
  public static var storageType: StorageType { .blob }
  public static var hasConstantDefault: Bool { true }
  public func bind(to binder: borrowing ColumnBinder) throws { try withUnsafeBytes { try binder.bind(blob: $0) } }
  public static func read(from reader: borrowing ColumnReader) throws -> Data {
    try reader.expect(.blob)
    return try reader.withBytes { $0.isEmpty ? Data() : Data($0) }
  }
  public func storedValue() -> Value { .blob(Array(self)) }
}

extension UUID: ModelKey {
  public static var storageType: StorageType { .blob }
  public func bind(to binder: borrowing ColumnBinder) throws {
    try withUnsafeBytes(of: uuid) { try binder.bind(blob: $0) }
  }
  public static func read(from reader: borrowing ColumnReader) throws -> UUID {
    try reader.expect(.blob)
    return try reader.withBytes { bytes in
      guard bytes.count == 16 else { throw reader.mismatch("a UUID of 16 bytes") }
      return UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))
    }
  }
  public func storedValue() -> Value { withUnsafeBytes(of: uuid) { .blob(Array($0)) } }
}

extension URL: ColumnValue {
  public static var storageType: StorageType { .text }
  public func bind(to binder: borrowing ColumnBinder) throws { try binder.bind(absoluteString) }
  public static func read(from reader: borrowing ColumnReader) throws -> URL {
    guard let url = URL(string: try reader.text()) else { throw reader.mismatch("a URL") }
    return url
  }
  public func storedValue() -> Value { .text(absoluteString) }
}
