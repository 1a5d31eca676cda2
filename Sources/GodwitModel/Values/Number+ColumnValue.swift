import Foundation
import GodwitBase

extension Bool: ColumnValue {
  /// INTEGER.
  public static var storageType: StorageType { .integer }
  /// Yes: `init()` gives the same value every time.
  public static var hasConstantDefault: Bool { true }
  /// Binds 1 or 0.
  public func bind(to binder: borrowing ColumnBinder) throws { try binder.bind(self ? 1 : Int64(0)) }
  /// Reads an INTEGER, of which any but 0 is true; throws `valueMismatch` for anything else.
  public static func read(from reader: borrowing ColumnReader) throws -> Bool { try reader.integer() != 0 }
  /// 1 or 0.
  public func storedValue() -> Value { .integer(self ? 1 : 0) }
}

/// A REAL in a column without affinity: under REAL affinity SQLite keeps whole numbers as integers, and −0.0 would
/// lose its sign.
extension Double: ColumnValue {
  /// No affinity: values stay as they are bound.
  public static var storageType: StorageType { .any }
  /// Yes: `init()` gives the same value every time.
  public static var hasConstantDefault: Bool { true }
  /// Binds a REAL; throws `valueNotStorable` for NaN.
  public func bind(to binder: borrowing ColumnBinder) throws { try binder.bind(self) }
  /// Reads a REAL, or an INTEGER as one; throws `valueMismatch` for anything else.
  public static func read(from reader: borrowing ColumnReader) throws -> Double { try reader.real() }
  /// A REAL; throws `valueNotStorable` for NaN.
  public func storedValue() throws -> Value { try Value(storing: self) }
}

extension Float: ColumnValue {
  /// No affinity: values stay as they are bound.
  public static var storageType: StorageType { .any }
  /// Yes: `init()` gives the same value every time.
  public static var hasConstantDefault: Bool { true }
  /// Binds a REAL of the same value; throws `valueNotStorable` for NaN.
  public func bind(to binder: borrowing ColumnBinder) throws { try binder.bind(Double(self)) }
  /// Reads a REAL or INTEGER, rounded to a Float; throws `valueMismatch` for anything else, and for a finite number
  /// that is beyond a Float's range.
  public static func read(from reader: borrowing ColumnReader) throws -> Float {
    guard let value = Float(inRange: try reader.real()) else {
      throw reader.mismatch("a number within a Float's range")
    }
    return value
  }
  /// A REAL of the same value; throws `valueNotStorable` for NaN.
  public func storedValue() throws -> Value { try Value(storing: Double(self)) }
}

extension Float {
  /// The number, rounded; nil for a finite one that is beyond the range, and would become infinite.
  init?(inRange number: Double) {
    self.init(number)
    guard isFinite || !number.isFinite else { return nil }
  }
}

/// Kept as text with every digit. Text does not sort by value, so decimals offer equality but no order.
extension Decimal: ColumnValue {
  /// TEXT.
  public static var storageType: StorageType { .text }
  /// Yes: `init()` gives the same value every time.
  public static var hasConstantDefault: Bool { true }

  /// Binds the number with every digit; throws `valueNotStorable` for NaN.
  public func bind(to binder: borrowing ColumnBinder) throws {
    guard !isNaN else { throw Value.notANumber }
    try binder.bind(description)
  }

  /// Reads a TEXT; throws `valueMismatch` when it is no decimal number.
  public static func read(from reader: borrowing ColumnReader) throws -> Decimal {
    guard let value = Decimal(wholeText: try reader.text()) else { throw reader.mismatch("a decimal number") }
    return value
  }

  /// The number that all of the text is; nil for a text that only begins with one, which Foundation takes, too.
  package init?(wholeText text: String) {
    var rest = text.utf8[...]
    func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
    func skipSign() { if let first = rest.first, first == 0x2B || first == 0x2D { rest.removeFirst() } }
    func skipDigits() -> Int {
      let digits = rest.prefix(while: isDigit).count
      rest = rest.dropFirst(digits)
      return digits
    }
    skipSign()
    var digits = skipDigits()
    if rest.first == UInt8(ascii: ".") {
      rest.removeFirst()
      digits += skipDigits()
    }
    guard digits > 0 else { return nil }
    if let mark = rest.first, mark == UInt8(ascii: "e") || mark == UInt8(ascii: "E") {
      rest.removeFirst()
      skipSign()
      guard skipDigits() > 0 else { return nil }
    }
    guard rest.isEmpty, let value = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")) else { return nil }
    self = value
  }

  /// The number with every digit, as TEXT; throws `valueNotStorable` for NaN.
  public func storedValue() throws -> Value {
    guard !isNaN else { throw Value.notANumber }
    return .text(description)
  }
}

/// Seconds since 2001-01-01 UTC as a REAL, in a column without affinity: Foundation's own reckoning, so every Date
/// comes back equal.
extension Date: ColumnValue {
  /// No affinity: values stay as they are bound.
  public static var storageType: StorageType { .any }
  /// Binds the seconds since 2001; throws `valueNotStorable` for NaN.
  public func bind(to binder: borrowing ColumnBinder) throws { try binder.bind(timeIntervalSinceReferenceDate) }
  /// Reads seconds since 2001; throws `valueMismatch` for anything but a number.
  public static func read(from reader: borrowing ColumnReader) throws -> Date {
    Date(timeIntervalSinceReferenceDate: try reader.real())
  }
  /// The seconds since 2001, as a REAL; throws `valueNotStorable` for NaN.
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
