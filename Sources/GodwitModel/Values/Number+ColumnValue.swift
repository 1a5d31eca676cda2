import Foundation
import GodwitBase

extension Bool: ColumnValue {
  public static var storageType: StorageType { .integer }
  public static var hasConstantDefault: Bool { true }
  public func bind(to binder: borrowing ColumnBinder) throws { try binder.bind(self ? 1 : Int64(0)) }
  public static func read(from reader: borrowing ColumnReader) throws -> Bool { try reader.integer() != 0 }
  public func storedValue() -> Value { .integer(self ? 1 : 0) }
}

/// A REAL in a column without affinity: under REAL affinity SQLite keeps whole numbers as integers, and −0.0 would
/// lose its sign.
extension Double: ColumnValue {
  public static var storageType: StorageType { .any }
  public static var hasConstantDefault: Bool { true }
  public func bind(to binder: borrowing ColumnBinder) throws { try binder.bind(self) }
  public static func read(from reader: borrowing ColumnReader) throws -> Double { try reader.real() }
  public func storedValue() throws -> Value { try Value(storing: self) }
}

extension Float: ColumnValue {
  public static var storageType: StorageType { .any }
  public static var hasConstantDefault: Bool { true }
  public func bind(to binder: borrowing ColumnBinder) throws { try binder.bind(Double(self)) }
  public static func read(from reader: borrowing ColumnReader) throws -> Float { Float(try reader.real()) }
  public func storedValue() throws -> Value { try Value(storing: Double(self)) }
}

/// Kept as text with every digit. Text does not sort by value, so decimals offer equality but no order.
extension Decimal: ColumnValue {
  public static var storageType: StorageType { .text }
  public static var hasConstantDefault: Bool { true }

  public func bind(to binder: borrowing ColumnBinder) throws {
    guard !isNaN else { throw Value.notANumber }
    try binder.bind(description)
  }

  public static func read(from reader: borrowing ColumnReader) throws -> Decimal {
    guard let value = Decimal(string: try reader.text(), locale: Locale(identifier: "en_US_POSIX")) else {
      throw reader.mismatch("a decimal number")
    }
    return value
  }

  public func storedValue() throws -> Value {
    guard !isNaN else { throw Value.notANumber }
    return .text(description)
  }
}

/// Seconds since 2001-01-01 UTC as a REAL, in a column without affinity: Foundation's own reckoning, so every Date comes back equal.
extension Date: ColumnValue {
  public static var storageType: StorageType { .any }
  public func bind(to binder: borrowing ColumnBinder) throws { try binder.bind(timeIntervalSinceReferenceDate) }
  public static func read(from reader: borrowing ColumnReader) throws -> Date {
    Date(timeIntervalSinceReferenceDate: try reader.real())
  }
  public func storedValue() throws -> Value { try Value(storing: timeIntervalSinceReferenceDate) }
}

extension Value {
  static var notANumber: GodwitError {
    GodwitError(.valueNotStorable, "NaN cannot be stored", hint: "use an optional property and nil")
  }

  init(storing number: Double) throws {
    guard !number.isNaN else { throw Self.notANumber }
    self = .real(number)
  }
}
