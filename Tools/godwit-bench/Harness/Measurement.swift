import Foundation

/// What one benchmark found. Times are medians per unit of work; the ratio is the median of the pairs' ratios.
struct Measurement: Codable {
  let group: String
  let name: String
  let baselineName: String
  let budget: Double
  let subjectMicroseconds: Double
  let baselineMicroseconds: Double
  let ratio: Double

  static let header = row("row", "µs", "baseline µs", "ratio", "budget", "", "measured against")

  var line: String {
    func text(_ value: Double, _ digits: Int) -> String { String(format: "%.\(digits)f", value) }
    return Self.row(
      "\(group): \(name)", text(subjectMicroseconds, 2), text(baselineMicroseconds, 2), text(ratio, 2),
      text(budget, 2), ratio > budget ? "OVER" : "ok", baselineName)
  }

  func json() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(self), as: UTF8.self)
  }

  private static func row(_ name: String, _ columns: String...) -> String {
    func padded(_ text: String, _ width: Int) -> String {
      String(repeating: " ", count: max(0, width - text.count)) + text
    }
    let start = name + String(repeating: " ", count: max(0, 46 - name.count))
    let widths = [10, 12, 7, 7, 5]
    return start + zip(columns, widths).map { padded($0, $1) }.joined() + "  " + (columns.last ?? "")
  }
}
