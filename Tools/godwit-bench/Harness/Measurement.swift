import Foundation

/// What one benchmark found. Times are medians per unit of work in µs; the ratio is the median of the pairs' ratios. A
/// few rows count something else than time.
struct Measurement: Codable {
  let group: String
  let name: String
  var unit = "µs"
  let subject: Double
  let baselineName: String
  let baseline: Double
  let ratio: Double
  let budget: Double

  static let header = row("row", "of one", "baseline", "unit", "ratio", "budget", "", "measured against")

  var isOver: Bool { ratio > budget }

  var line: String {
    func text(_ value: Double) -> String { String(format: "%.2f", value) }
    return Self.row(
      "\(group): \(name)", text(subject), text(baseline), unit, text(ratio), text(budget), isOver ? "OVER" : "ok",
      baselineName)
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
    let widths = [10, 10, 6, 7, 8, 6]
    return start + zip(columns, widths).map { padded($0, $1) }.joined() + "  " + (columns.last ?? "")
  }
}
