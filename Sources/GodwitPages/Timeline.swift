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
  /// How many transactions stand in the first or the last span because their times cannot be true.
  package let misdated: Int

  /// How many spans and lanes there are at most.
  package static let (spanLimit, laneLimit): (Int64, Int) = (48, 16)

  /// Seconds since 1970 that a writer's clock may have shown: none before Godwit was there, none later than a day from
  /// now.
  package static func credible(at now: Date) -> ClosedRange<Int64> {
    // 2026-01-01.
    let beginning = Int64(1_767_225_600)
    // Times beyond a million years are none that this machine's clock shows.
    let end = now.timeIntervalSince1970.isFinite ? min(max(now.timeIntervalSince1970, 0), 1e13) + 86_400 : 0
    return beginning...max(beginning, Int64(end))
  }

  /// Nil when nothing is remembered.
  ///
  /// - Parameter credible: What a clock may have shown, in seconds since 1970. A writer whose clock was years off would
  ///   otherwise press all others into one span; what it wrote stands at the beginning or the end. Where no time is
  ///   credible, it is this machine's clock that is wrong, and all are taken as they are.
  package init?(_ tally: LogTally, credible: ClosedRange<Int64>) {
    let all = tally.seconds.values.flatMap(\.keys)
    let trusted = all.filter(credible.contains)
    let seconds = trusted.isEmpty ? all : trusted
    guard let earliest = seconds.min(), let last = seconds.max() else { return nil }
    // One span less, since the first begins where people count from.
    let secondsInSpan = Self.step((last - earliest + Self.spanLimit - 2) / (Self.spanLimit - 1))
    let first = earliest - (earliest % secondsInSpan + secondsInSpan) % secondsInSpan
    let spans = Int((last - first) / secondsInSpan + 1)
    let lanes = tally.seconds.map { replica, seconds in
      var amounts = [LogTally.Amount](repeating: .init(), count: spans)
      for (second, amount) in seconds {
        amounts[Int((min(max(second, earliest), last) - first) / secondsInSpan)] += amount
      }
      return Lane(replica: replica, amounts: amounts)
    }
    misdated = tally.seconds.values.joined().filter { !(earliest...last).contains($0.key) }
      .reduce(0) { $0 + $1.value.transactions }
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
