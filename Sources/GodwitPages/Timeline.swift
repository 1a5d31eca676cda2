import Foundation
import Godwit
import GodwitReports

/// What the log remembers, in spans of equal length, so that it can be drawn.
package struct Timeline: Sendable, Equatable {
  /// One writer's.
  package struct Lane: Sendable, Equatable {
    /// Nil for all that have no lane of their own.
    package let replica: ReplicaID?
    /// One for each span.
    package let amounts: [LogTally.Amount]

    package var total: LogTally.Amount { amounts.reduce(into: LogTally.Amount()) { $0 += $1 } }
  }

  /// When the first span begins, in seconds since 1970 UTC.
  package let firstSecond: Int64
  package let secondsInSpan: Int64
  package let spans: Int
  /// Those that wrote most first, those without a lane of their own last.
  package let lanes: [Lane]

  /// How many spans and lanes there are at most.
  package static let (spanLimit, laneLimit): (Int64, Int) = (48, 16)

  /// Nil when nothing is remembered.
  package init?(_ tally: LogTally) {
    let seconds = tally.seconds.values.flatMap(\.keys)
    guard let earliest = seconds.min(), let last = seconds.max() else { return nil }
    // One span less, since the first begins where people count from.
    let secondsInSpan = Self.step((last - earliest + Self.spanLimit - 2) / (Self.spanLimit - 1))
    let first = earliest - (earliest % secondsInSpan + secondsInSpan) % secondsInSpan
    let spans = Int((last - first) / secondsInSpan + 1)
    let lanes = tally.seconds.map { replica, seconds in
      var amounts = [LogTally.Amount](repeating: .init(), count: spans)
      for (second, amount) in seconds { amounts[Int((second - first) / secondsInSpan)] += amount }
      return Lane(replica: replica, amounts: amounts)
    }
    firstSecond = first
    self.secondsInSpan = secondsInSpan
    self.spans = spans
    self.lanes = Self.joined(
      lanes.sorted { (-$0.total.transactions, $0.replica) < (-$1.total.transactions, $1.replica) })
  }

  /// When a span begins, in UTC: `2026-01-31 09:00`, with seconds where spans are shorter than a minute.
  package func text(_ span: Int) -> String {
    let second = firstSecond + Int64(span) * secondsInSpan
    return String(Format.time(milliseconds: second * 1_000).prefix(secondsInSpan < 60 ? 19 : 16)).replacingOccurrences(
      of: "T", with: " ")
  }

  /// How a span's length is called.
  package var spanName: String {
    let units =
      [(604_800, "week"), (86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second")] as [(Int64, String)]
    let (length, unit) = units.first { secondsInSpan % $0.0 == 0 } ?? (1, "second")
    guard secondsInSpan > length else { return unit == "hour" ? "an hour" : "a \(unit)" }
    return "\(secondsInSpan / length) \(unit)s"
  }

  /// The least length that people count in and that is not less.
  private static func step(_ seconds: Int64) -> Int64 {
    let (hour, day, year): (Int64, Int64, Int64) = (3_600, 86_400, 31_536_000)
    let short = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1_200, 1_800, hour, 2 * hour, 3 * hour, 6 * hour, 12 * hour]
    let steps = short + [1, 2, 7, 14, 28, 84].map { $0 * day }
    return steps.first { $0 >= seconds } ?? (seconds + year - 1) / year * year
  }

  /// Those beyond the limit in one lane.
  private static func joined(_ lanes: [Lane]) -> [Lane] {
    guard lanes.count > laneLimit else { return lanes }
    let rest = lanes.dropFirst(laneLimit - 1)
    let sums = lanes[0].amounts.indices.map { span in
      rest.reduce(into: LogTally.Amount()) { $0 += $1.amounts[span] }
    }
    return lanes.prefix(laneLimit - 1) + [Lane(replica: nil, amounts: sums)]
  }
}

private func < (left: (Int, ReplicaID?), right: (Int, ReplicaID?)) -> Bool {
  if left.0 != right.0 { return left.0 < right.0 }
  guard let one = left.1, let other = right.1 else { return left.1 != nil }
  return one < other
}
