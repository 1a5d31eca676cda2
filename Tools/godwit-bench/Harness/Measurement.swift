import Foundation

/// What one benchmark found. Times are medians per unit of work in µs; the ratio is the median of the pairs' ratios. A
/// row has a ratio with its budget, or a budget in µs. A few rows count something else than time.
struct Measurement: Codable {
  let group: String
  let name: String
  var unit = "µs"
  let subject: Double
  var baselineName: String?
  var baseline: Double?
  var ratio: Double?
  var budget: Double?
  var budgetMicroseconds: Double?

  static let header = row("row", "of one", "baseline", "unit", "ratio", "budget", "", "measured against")

  var isOver: Bool {
    if let ratio, let budget { return ratio > budget }
    return subject > budgetMicroseconds ?? .infinity
  }

  var line: String {
    func text(_ value: Double?) -> String { value.map { String(format: "%.2f", $0) } ?? "-" }
    return Self.row(
      "\(group): \(name)", text(subject), text(baseline), unit, text(ratio),
      budgetMicroseconds.map { String(format: "%.0f µs", $0) } ?? text(budget), isOver ? "OVER" : "ok",
      baselineName ?? "the clock")
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
