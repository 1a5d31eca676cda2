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

  /// The whole text: Foundation's styles read what a text begins with, and take the rest for nothing.
  private static func date(_ text: String) -> Date? {
    let day = /[0-9]{4}-[0-9]{2}-[0-9]{2}/
    let time = /T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]+)?(Z|[+-][0-9]{2}:?[0-9]{2})/
    let (start, rest) = (text.prefix(10), text.dropFirst(10))
    guard start.wholeMatch(of: day) != nil, rest.isEmpty || rest.wholeMatch(of: time) != nil, isDay(start) else {
      return nil
    }
    if let time = try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true)) { return time }
    if let time = try? Date(text, strategy: Date.ISO8601FormatStyle()) { return time }
    guard rest.isEmpty else { return nil }
    return try? Date(text, strategy: Date.ISO8601FormatStyle().year().month().day())
  }

  /// Whether the calendar has that day.
  private static func isDay(_ text: Substring) -> Bool {
    let numbers = text.split(separator: "-").compactMap { Int($0) }
    guard numbers.count == 3 else { return false }
    return DateComponents(
      calendar: Calendar(identifier: .gregorian), year: numbers[0], month: numbers[1], day: numbers[2]
    ).isValidDate
  }
}
