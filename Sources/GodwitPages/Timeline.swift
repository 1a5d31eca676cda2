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

  /// When the first span begins, in minutes since 1970 UTC.
  package let firstMinute: Int64
  package let minutesInSpan: Int64
  package let spans: Int
  /// Those that wrote most first, those without a lane of their own last.
  package let lanes: [Lane]

  /// How many spans and lanes there are at most.
  package static let (spanLimit, laneLimit): (Int64, Int) = (48, 16)

  /// Nil when nothing is remembered.
  package init?(_ tally: LogTally) {
    let minutes = tally.minutes.values.flatMap(\.keys)
    guard let first = minutes.min(), let last = minutes.max() else { return nil }
    let length = last - first + 1
    let minutesInSpan = Self.step((length + Self.spanLimit - 1) / Self.spanLimit)
    let spans = Int((length + minutesInSpan - 1) / minutesInSpan)
    let lanes = tally.minutes.map { replica, minutes in
      var amounts = [LogTally.Amount](repeating: .init(), count: spans)
      for (minute, amount) in minutes { amounts[Int((minute - first) / minutesInSpan)] += amount }
      return Lane(replica: replica, amounts: amounts)
    }
    firstMinute = first
    self.minutesInSpan = minutesInSpan
    self.spans = spans
    self.lanes = Self.joined(
      lanes.sorted { (-$0.total.transactions, $0.replica) < (-$1.total.transactions, $1.replica) })
  }

  /// When a span begins, in UTC: `2026-01-31 09:00`.
  package func text(_ span: Int) -> String {
    let minute = firstMinute + Int64(span) * minutesInSpan
    return String(Format.time(milliseconds: minute * 60_000).prefix(16)).replacingOccurrences(of: "T", with: " ")
  }

  /// How a span's length is called.
  package var spanName: String {
    switch minutesInSpan {
    case 1: "a minute"
    case 60: "an hour"
    case 1_440: "a day"
    case 10_080: "a week"
    case let minutes where minutes % 1_440 == 0: "\(minutes / 1_440) days"
    case let minutes where minutes % 60 == 0: "\(minutes / 60) hours"
    case let minutes: "\(minutes) minutes"
    }
  }

  /// The least length that people count in and that is not less.
  private static func step(_ minutes: Int64) -> Int64 {
    let (day, year): (Int64, Int64) = (1_440, 525_600)
    let steps = [1, 2, 5, 10, 20, 30, 60, 120, 180, 360, 720, day, 2 * day, 7 * day, 14 * day, 30 * day, 90 * day]
    return steps.first { $0 >= minutes } ?? (minutes + year - 1) / year * year
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
