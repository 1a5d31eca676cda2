import Foundation
import GodwitBase

/// A moment in whole milliseconds since 1970 UTC, stored as an INTEGER: what ``Timestamps`` columns hold.
public struct Timestamp: Hashable, Comparable, Sendable {
  /// Milliseconds since 1970-01-01 00:00 UTC.
  public var milliseconds: Int64

  /// The moment that many milliseconds after 1970 UTC.
  public init(milliseconds: Int64 = 0) { self.milliseconds = milliseconds }

  /// The last whole millisecond at or before the date; the ends of Int64 for dates beyond them. A date that
  /// ``date`` gave is the moment that it was, though dates count from 2001 and are not exact.
  public init(_ date: Date) {
    let exact = date.timeIntervalSince1970 * 1_000
    let nearest = exact.rounded()
    let inexactness = max(0.001, date.timeIntervalSinceReferenceDate.ulp * 1_000)
    let whole = (exact - nearest).magnitude < inexactness ? nearest : exact.rounded(.down)
    milliseconds = Int64(exactly: whole) ?? (whole < 0 ? .min : .max)
  }

  /// This moment, by the machine's clock.
  public static var now: Timestamp { Timestamp(Date()) }

  /// The same moment as a date.
  public var date: Date { Date(timeIntervalSince1970: Double(milliseconds) / 1_000) }

  /// Earlier.
  public static func < (left: Self, right: Self) -> Bool { left.milliseconds < right.milliseconds }
}

/// A number of milliseconds in any coding.
extension Timestamp: Codable {
  /// Reads a number of milliseconds.
  public init(from decoder: any Decoder) throws {
    self.init(milliseconds: try decoder.singleValueContainer().decode(Int64.self))
  }

  /// Writes the milliseconds as a number.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(milliseconds)
  }
}

/// Its default in `init()` may be ``now``, so it is no column's DEFAULT unless the schema says so.
extension Timestamp: OrderedColumnValue {
  /// INTEGER.
  public static var storageType: StorageType { .integer }
  /// Binds the milliseconds.
  public func bind(to binder: borrowing ColumnBinder) throws { try binder.bind(milliseconds) }
  /// Reads milliseconds; throws `valueMismatch` for anything but an INTEGER.
  public static func read(from reader: borrowing ColumnReader) throws -> Timestamp {
    Timestamp(milliseconds: try reader.integer())
  }
  /// The milliseconds.
  public func storedValue() -> Value { .integer(milliseconds) }
}
