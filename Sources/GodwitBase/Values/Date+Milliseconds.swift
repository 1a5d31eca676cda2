import Foundation

/// Formats have instants in whole milliseconds since 1970 UTC, and programs have dates.
extension Date {
  /// The instant of these milliseconds since 1970 UTC. Exact to the millisecond for the years of any calendar.
  package init(milliseconds: Int64) { self.init(timeIntervalSince1970: Double(milliseconds) / 1_000) }

  /// The nearest whole millisecond since 1970 UTC; of an infinite date, and of one far beyond any timestamp, the last
  /// or the first that is counted with.
  ///
  /// - Parameter what: What the date is, for the message.
  /// - Throws: `invalidArgument` for NaN.
  package func milliseconds(of what: String) throws(GodwitError) -> Int64 {
    guard !timeIntervalSince1970.isNaN else {
      throw GodwitError(.invalidArgument, "\(what) is NaN, which is no time", hint: "give a date")
    }
    return Int64(min(max(timeIntervalSince1970 * 1_000, -Self.farthest), Self.farthest).rounded())
  }

  private static let farthest = 9e15
}
