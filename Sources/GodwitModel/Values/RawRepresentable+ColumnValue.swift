import GodwitBase

/// An enum with raw values is stored as its raw value; a value that no case has is a `valueMismatch`.
extension ColumnValue where Self: RawRepresentable, RawValue: ColumnValue {
  public static var storageType: StorageType { RawValue.storageType }
  public static var hasConstantDefault: Bool { RawValue.hasConstantDefault }

  public func bind(to binder: borrowing ColumnBinder) throws { try rawValue.bind(to: binder) }

  public static func read(from reader: borrowing ColumnReader) throws -> Self {
    guard let value = Self(rawValue: try RawValue.read(from: reader)) else {
      throw reader.mismatch("a raw value of \(Self.self)")
    }
    return value
  }

  public func storedValue() throws -> Value { try rawValue.storedValue() }
}
