import Foundation
import Godwit
import GodwitFiles

/// How tools write sizes, times and values for people.
public enum Format {
  /// `512 B`, `1.5 KiB`, `20.0 MiB`.
  public static func byteSize(_ bytes: Int) -> String {
    guard bytes >= 1024 else { return "\(bytes) B" }
    var size = Double(bytes) / 1024
    var units = ["KiB", "MiB", "GiB", "TiB", "PiB"][...]
    while size >= 1023.95, units.count > 1 {
      size /= 1024
      units.removeFirst()
    }
    return "\(String(format: "%.1f", size)) \(units.first ?? "")"
  }

  /// ISO 8601 in UTC with milliseconds: `2026-01-31T09:30:00.250Z`.
  /// One that no calendar has as the nearest that one has.
  public static func time(milliseconds: Int64) -> String {
    let known = min(max(milliseconds, firstMillisecond), lastMillisecond)
    let rest = (known % 1_000 + 1_000) % 1_000
    // Seconds are exact, and thousandths are not.
    let seconds = Date(timeIntervalSince1970: Double((known - rest) / 1_000)).formatted(Date.ISO8601FormatStyle())
    return "\(seconds.dropLast())\(String(format: ".%03d", Int(rest)))Z"
  }

  /// Of the years 1600 to 9999.
  private static let (firstMillisecond, lastMillisecond): (Int64, Int64) = (-11_676_096_000_000, 253_402_300_799_999)

  /// The same of a date.
  public static func time(_ date: Date) -> String {
    let milliseconds = (date.timeIntervalSince1970 * 1_000).rounded()
    return time(milliseconds: Int64(min(max(milliseconds, Double(firstMillisecond)), Double(lastMillisecond))))
  }

  /// `1 row`, `2 rows`.
  public static func count(_ number: Int, _ singular: String, plural: String? = nil) -> String {
    "\(number) \(number == 1 ? singular : plural ?? singular + "s")"
  }

  /// A stored value: blobs as `x'HEX'`, null as `NULL`.
  public static func value(_ value: Value) -> String {
    switch value {
    case .null: "NULL"
    case .integer(let number): String(number)
    case .real(let number): "\(number)"
    case .text(let text): text
    case .blob(let bytes): "x'\(hexadecimal(bytes))'"
    }
  }

  /// Stored values, such as those of a key, with commas between them.
  public static func values(_ values: [Value]) -> String { values.map(value).joined(separator: ", ") }

  /// Lower-case hexadecimal digits.
  public static func hexadecimal(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef".utf8)
    let text = bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    return String(decoding: text, as: UTF8.self)
  }

  /// The text on one line and without control characters, which could command the terminal it is shown on.
  public static func printable(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: Unprintable.contains) else { return text }
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case _ where Unprintable.contains(scalar): result += "\\u{\(String(scalar.value, radix: 16))}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// JSON that is written already, with what ``printable(_:)`` does not show as itself by its codes, `\uXXXX`: the same
  /// values. Such characters stand in strings alone.
  public static func escapedJSON(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: Unprintable.contains) else { return text }
    var result = ""
    for scalar in text.unicodeScalars {
      if Unprintable.contains(scalar) { result += jsonEscape(scalar) } else { result.unicodeScalars.append(scalar) }
    }
    return result
  }

  /// A character of at most 16 bits as `\uXXXX`.
  static func jsonEscape(_ scalar: Unicode.Scalar) -> String {
    let digits = String(scalar.value, radix: 16)
    return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
  }
}
