import ArgumentParser
import Foundation

/// A time on the command line: ISO 8601 (`2026-01-31`, `2026-01-31T09:30:00Z`), or how long ago (`90m`, `12h`, `7d`).
struct TimeArgument: ExpressibleByArgument {
  let date: Date

  init?(argument: String) {
    guard let date = Self.ago(argument) ?? Self.date(argument) else { return nil }
    self.date = date
  }

  private static func ago(_ text: String) -> Date? {
    let units: [Character: Double] = ["m": 60, "h": 3_600, "d": 86_400]
    guard let unit = text.last.flatMap({ units[$0] }), let count = Double(text.dropLast()), count >= 0,
      count * unit < 1e11
    else { return nil }
    return Date(timeIntervalSinceNow: -count * unit)
  }

  private static func date(_ text: String) -> Date? {
    if let time = try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true)) { return time }
    if let time = try? Date(text, strategy: Date.ISO8601FormatStyle()) { return time }
    return try? Date(text, strategy: Date.ISO8601FormatStyle().year().month().day())
  }
}
