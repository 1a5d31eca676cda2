import Foundation
import GodwitBase

// Parts of dates, in UTC. SQLite's calendar is Gregorian at all times and goes from the year 0 to 9999; what lies
// beyond is NULL, which is `valueMismatch` where the column is not optional.
extension SQLExpression {
  /// Of whole seconds since 1970: rounded down, so that the last moments of a day belong to it. As a Julian day, for
  /// SQLite 3.15 goes wrong by `unixepoch` from the year 5353 on.
  private static func part<Output>(_ format: String, _ seconds: [SQLPart]) -> SQLExpression<Output> {
    let isKnown: [SQLPart] = [.text("CASE WHEN (")] + seconds + [.text(") BETWEEN -62167219200 AND 253402300799 THEN ")]
    let part = [.text("CAST(strftime('\(format)', (")] + seconds + [.text(") / 86400.0 + 2440587.5) AS INTEGER) END")]
    return SQLExpression<Output>(isKnown + part)
  }

  /// Dates count seconds from 2001 on.
  private func part<Output>(ofDate format: String) -> SQLExpression<Output> {
    let whole: [SQLPart] = [.text("CAST(")] + parts + [.text(" AS INTEGER)")]
    let isRoundedUp: [SQLPart] = [.text(" - (")] + operand(of: .comparison) + [.text(" < ")] + whole + [.text(")")]
    return Self.part(format, whole + isRoundedUp + [.text(" + \(Int(Date.timeIntervalBetween1970AndReferenceDate))")])
  }

  /// Timestamps count milliseconds.
  private func part<Output>(ofTimestamp format: String) -> SQLExpression<Output> {
    let milliseconds = operand(of: .product)
    return Self.part(
      format, milliseconds + [.text(" / 1000 - (")] + milliseconds + [.text(" % 1000 < 0)")])
  }
}

extension SQLExpression where Value == Date {
  /// The year, in UTC.
  public var year: SQLExpression<Int> { part(ofDate: "%Y") }
  /// The month, 1 to 12, in UTC.
  public var month: SQLExpression<Int> { part(ofDate: "%m") }
  /// The day of the month, in UTC.
  public var day: SQLExpression<Int> { part(ofDate: "%d") }
}

extension SQLExpression where Value == Date? {
  /// The year, in UTC; nil of nil.
  public var year: SQLExpression<Int?> { part(ofDate: "%Y") }
  /// The month, 1 to 12, in UTC; nil of nil.
  public var month: SQLExpression<Int?> { part(ofDate: "%m") }
  /// The day of the month, in UTC; nil of nil.
  public var day: SQLExpression<Int?> { part(ofDate: "%d") }
}

extension SQLExpression where Value == Timestamp {
  /// The year, in UTC.
  public var year: SQLExpression<Int> { part(ofTimestamp: "%Y") }
  /// The month, 1 to 12, in UTC.
  public var month: SQLExpression<Int> { part(ofTimestamp: "%m") }
  /// The day of the month, in UTC.
  public var day: SQLExpression<Int> { part(ofTimestamp: "%d") }
}
