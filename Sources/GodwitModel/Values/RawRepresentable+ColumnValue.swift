import GodwitBase

/// An enum with raw values is stored as its raw value; a value that no case has is a `valueMismatch`.
extension ColumnValue where Self: RawRepresentable, RawValue: ColumnValue {
  /// That of the raw value.
  public static var storageType: StorageType { RawValue.storageType }
  /// As the raw value's type says.
  public static var hasConstantDefault: Bool { RawValue.hasConstantDefault }

  /// Binds the raw value.
  public func bind(to binder: borrowing ColumnBinder) throws { try rawValue.bind(to: binder) }

  /// Reads a raw value; throws `valueMismatch` when no case has it.
  public static func read(from reader: borrowing ColumnReader) throws -> Self {
    guard let value = Self(rawValue: try RawValue.read(from: reader)) else {
      throw reader.mismatch("a raw value of \(Self.self)")
    }
    return value
  }

  /// The raw value as it is stored.
  public func storedValue() throws -> Value { try rawValue.storedValue() }
}
