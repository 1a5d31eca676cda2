import GodwitBase

/// How a column of a type is declared, and so which affinity SQLite gives it.
public enum StorageType: Sendable {
  /// INTEGER affinity.
  case integer
  /// REAL affinity.
  case real
  /// TEXT affinity.
  case text
  /// BLOB affinity.
  case blob
  /// No affinity: values keep the class they are bound with.
  case any
}

/// A type whose values can be stored in a column.
///
/// Types of your own usually adopt one of the refinements: a `RawRepresentable` enum needs nothing more than the
/// conformance, a `Codable` type adopts ``JSONColumnValue``.
public protocol ColumnValue: Sendable {
  /// The type without its nil: the type itself unless it is optional. Never written by hand. It is public because the
  /// signatures of public operators name it, and underscored to leave the name to types of the program's own.
  associatedtype _Present: ColumnValue = Self
  /// How the column is declared.
  static var storageType: StorageType { get }
  /// Whether NULL is one of the values.
  static var isNullable: Bool { get }
  /// Whether a default from `Model.init()` is the same every time, so that it can be the column's DEFAULT.
  static var hasConstantDefault: Bool { get }

  /// Binds the value; throws `valueNotStorable` for one that cannot be kept, such as NaN.
  func bind(to binder: borrowing ColumnBinder) throws
  /// Reads the value; throws `valueMismatch` when the stored one is not of this type.
  static func read(from reader: borrowing ColumnReader) throws -> Self
  /// The value as it is stored; throws `valueNotStorable` for one that cannot be kept.
  func storedValue() throws -> Value

  /// The functions that read and write a property of this type at an offset. Never written by hand. It is a public
  /// requirement because only a member of the type itself is compiled with the type known, so that each row of a fetch
  /// is read without generic calls.
  static func _access(atOffset offset: Int) -> ColumnAccess
  /// The same for an optional property. Never written by hand; public for the reason that ``_access(atOffset:)`` is.
  static func _optionalAccess(atOffset offset: Int) -> ColumnAccess
}

extension ColumnValue {
  /// No, unless the type says otherwise.
  public static var isNullable: Bool { false }
  /// No, unless the type says otherwise.
  public static var hasConstantDefault: Bool { false }
  /// The usual access to a property of the type; never called by programs.
  public static func _access(atOffset offset: Int) -> ColumnAccess { .stored(Self.self, at: offset) }
  /// The usual access to an optional property of the type; never called by programs.
  public static func _optionalAccess(atOffset offset: Int) -> ColumnAccess { .stored(Self?.self, at: offset) }
}
