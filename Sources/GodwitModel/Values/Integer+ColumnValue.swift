import GodwitBase

/// Every integer width that fits 64 signed bits is an INTEGER.
extension ColumnValue where Self: FixedWidthInteger {
  /// INTEGER.
  public static var storageType: StorageType { .integer }
  /// Yes: `init()` gives the same value every time.
  public static var hasConstantDefault: Bool { true }

  /// Binds an INTEGER.
  public func bind(to binder: borrowing ColumnBinder) throws { try binder.bind(Int64(truncatingIfNeeded: self)) }

  /// Reads an INTEGER; throws `valueMismatch` when it does not fit the type.
  public static func read(from reader: borrowing ColumnReader) throws -> Self {
    guard let value = Self(exactly: try reader.integer()) else {
      throw reader.mismatch("a number that fits \(Self.self)")
    }
    return value
  }

  /// An INTEGER.
  public func storedValue() -> Value { .integer(Int64(truncatingIfNeeded: self)) }
}

extension Int: ModelKey {}
extension Int8: ColumnValue {}
extension Int16: ColumnValue {}
extension Int32: ColumnValue {}
extension Int64: ModelKey {}
extension UInt8: ColumnValue {}
extension UInt16: ColumnValue {}
extension UInt32: ColumnValue {}

/// UInt and UInt64 beyond Int64.max are kept as 20 digits of text in a column without affinity: SQLite orders text
/// after every integer and digits of one length by value, so comparisons and sorting stay right.
extension ColumnValue where Self: FixedWidthInteger & UnsignedInteger {
  func bindUnsigned(to binder: borrowing ColumnBinder) throws {
    if let small = Int64(exactly: self) { try binder.bind(small) } else { try binder.bind(digits) }
  }

  static func readUnsigned(from reader: borrowing ColumnReader) throws -> Self {
    if let small = try? reader.integer() {
      guard let value = Self(exactly: small) else { throw reader.mismatch("a number that fits \(Self.self)") }
      return value
    }
    guard let value = Self(try reader.text()) else { throw reader.mismatch("a number that fits \(Self.self)") }
    return value
  }

  var storedUnsigned: Value { Int64(exactly: self).map { .integer($0) } ?? .text(digits) }

  private var digits: String {
    let text = String(self)
    return String(repeating: "0", count: 20 - text.count) + text
  }
}

extension UInt64: ColumnValue {
  /// No affinity: values stay as they are bound.
  public static var storageType: StorageType { .any }
  /// Binds an INTEGER, or 20 digits of TEXT beyond Int64.max.
  public func bind(to binder: borrowing ColumnBinder) throws { try bindUnsigned(to: binder) }
  /// Reads an INTEGER or digits; throws `valueMismatch` for anything out of range.
  public static func read(from reader: borrowing ColumnReader) throws -> Self { try readUnsigned(from: reader) }
  /// An INTEGER, or 20 digits of TEXT beyond Int64.max.
  public func storedValue() -> Value { storedUnsigned }
}

extension UInt: ColumnValue {
  /// No affinity: values stay as they are bound.
  public static var storageType: StorageType { .any }
  /// Binds an INTEGER, or 20 digits of TEXT beyond Int64.max.
  public func bind(to binder: borrowing ColumnBinder) throws { try bindUnsigned(to: binder) }
  /// Reads an INTEGER or digits; throws `valueMismatch` for anything out of range.
  public static func read(from reader: borrowing ColumnReader) throws -> Self { try readUnsigned(from: reader) }
  /// An INTEGER, or 20 digits of TEXT beyond Int64.max.
  public func storedValue() -> Value { storedUnsigned }
}
