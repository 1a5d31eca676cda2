import Foundation

/// Dates in documents: ISO 8601, written in UTC with milliseconds, so that texts stand in the order of times.
package enum DocumentDate {
  private static let secondsPerDay = 86_400

  /// Nil for a date that is NaN, or not of the years 0 to 9999: a text of more digits would not stand in the order of
  /// times.
  package static func text(_ date: Date) -> String? {
    let milliseconds = (date.timeIntervalSince1970 * 1_000).rounded()
    guard (-62_167_219_200_000...253_402_300_799_999).contains(milliseconds) else { return nil }
    let total = Int64(milliseconds)
    let seconds = Int((Double(total) / 1_000).rounded(.down))
    let fraction = Int(total - Int64(seconds) * 1_000)
    let days = Int((Double(seconds) / Double(secondsPerDay)).rounded(.down))
    let rest = seconds - days * secondsPerDay
    let (year, month, day) = civil(days)
    func padded(_ number: Int, _ width: Int) -> String {
      let digits = String(number)
      return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
    let date = "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
    return
      "\(date)T\(padded(rest / 3_600, 2)):\(padded(rest / 60 % 60, 2)):\(padded(rest % 60, 2)).\(padded(fraction, 3))Z"
  }

  /// A date, or a date and time with seconds or without, with `Z` or an offset; nil for anything else.
  package static func date(_ text: String) -> Date? {
    var rest = Substring(text).utf8
    func number(_ width: Int) -> Int? {
      let digits = rest.prefix(width)
      guard digits.count == width, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
      rest = rest.dropFirst(width)
      return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }
    func take(_ characters: String) -> UInt8? {
      guard let first = rest.first, characters.utf8.contains(first) else { return nil }
      rest = rest.dropFirst()
      return first
    }
    guard let year = number(4), take("-") != nil, let month = number(2), take("-") != nil, let day = number(2),
      (1...12).contains(month), day >= 1, day <= length(ofMonth: month, year)
    else { return nil }
    let midnight = Double(days(year, month, day) * secondsPerDay)
    if rest.isEmpty { return Date(timeIntervalSince1970: midnight) }
    guard take("Tt ") != nil, let hour = number(2), take(":") != nil, let minute = number(2), hour < 24, minute < 60
    else { return nil }
    var seconds = Double(hour * 3_600 + minute * 60)
    if take(":") != nil {
      guard let second = number(2), second <= 60 else { return nil }
      seconds += Double(second)
      if take(".,") != nil {
        let digits = rest.prefix { (0x30...0x39).contains($0) }
        guard !digits.isEmpty, let fraction = Double("0.\(Substring(digits))") else { return nil }
        seconds += fraction
        rest = rest.dropFirst(digits.count)
      }
    }
    guard let zone = take("Zz+-") else { return nil }
    if zone == UInt8(ascii: "+") || zone == UInt8(ascii: "-") {
      guard let hours = number(2), hours < 24 else { return nil }
      _ = take(":")
      guard let minutes = number(2), minutes < 60 else { return nil }
      seconds -= Double((hours * 60 + minutes) * 60) * (zone == UInt8(ascii: "-") ? -1 : 1)
    }
    return rest.isEmpty ? Date(timeIntervalSince1970: midnight + seconds) : nil
  }

  private static func length(ofMonth month: Int, _ year: Int) -> Int {
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    return month == 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].contains(month) ? 30 : 31
  }

  // Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms": years begin in March, eras have 400 years.

  private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
    let year = month <= 2 ? year - 1 : year
    let era = (year >= 0 ? year : year - 399) / 400
    let yearOfEra = year - era * 400
    let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  private static func civil(_ days: Int) -> (year: Int, month: Int, day: Int) {
    let shifted = days + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let part = (5 * dayOfYear + 2) / 153
    let month = part < 10 ? part + 3 : part - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * part + 2) / 5 + 1)
  }
}
