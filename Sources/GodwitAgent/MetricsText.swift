import Godwit
import GodwitRemotes
import GodwitReports

/// Prometheus' text format 0.0.4 (prometheus.io/docs/instrumenting/exposition_formats).
struct MetricsText {
  enum Kind: String { case gauge, counter, histogram }

  private(set) var text = ""

  /// Adds the samples of a metric, which stand together. One without samples is not written.
  mutating func family(_ name: String, _ kind: Kind, _ help: String, _ body: (inout Family) -> Void) {
    var family = Family(name: name)
    body(&family)
    guard !family.text.isEmpty else { return }
    text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n\(family.text)"
  }

  /// The samples of a metric.
  struct Family {
    fileprivate let name: String
    fileprivate var text = ""

    fileprivate init(name: String) { self.name = name }

    mutating func add(_ value: Double, _ labels: [(String, String)] = [], suffix: String = "") {
      let words = labels.map { "\($0)=\"\(Self.escaped($1))\"" }.joined(separator: ",")
      text += "\(name)\(suffix)\(words.isEmpty ? "" : "{\(words)}") \(Self.number(value))\n"
    }

    mutating func add(_ histogram: Histogram, _ labels: [(String, String)]) {
      for (bound, count) in histogram.cumulative {
        add(Double(count), labels + [("le", Self.number(bound))], suffix: "_bucket")
      }
      add(Double(histogram.count), labels + [("le", "+Inf")], suffix: "_bucket")
      add(histogram.sum, labels, suffix: "_sum")
      add(Double(histogram.count), labels, suffix: "_count")
    }

    mutating func addRequests(_ requests: [CountedCarrier.Kind: Int], _ labels: [(String, String)]) {
      let lines = requests.map { kind, count in
        (operation: kind.operation.rawValue, result: kind.error?.rawValue ?? "ok", count: count)
      }
      for line in lines.sorted(by: { ($0.operation, $0.result) < ($1.operation, $1.result) }) {
        add(Double(line.count), labels + [("operation", line.operation), ("result", line.result)])
      }
    }

    mutating func addLags(of state: AgentStatus.State, limit: Int) {
      guard let standing = state.standing else { return }
      let members = standing.lags.sorted { ($1.value, $0.key.description) < ($0.value, $1.key.description) }
      let names = members.map { Format.printable(standing.names.name($0.key)) }
      let words = Self.distinct(names, members.map { "\($0.key)" })
      for ((_, lag), word) in zip(members, words).prefix(limit) {
        add(Double(lag), [("replica", state.folder), ("member", word)])
      }
    }

    /// Names of which some may be the same, made to differ by the IDs: two series of one name are none. A name that
    /// ends with an ID, as if it had been made so, gets one, too.
    static func distinct(_ names: [String], _ ids: [String]) -> [String] {
      let counts = Dictionary(grouping: names, by: \.self).mapValues(\.count)
      let known = Set(ids)
      return zip(names, ids).map { name, id in
        let end = String(name.suffix(id.count))
        return counts[name] == 1 && !known.contains(end) ? name : "\(name) \(id)"
      }
    }

    /// Whole numbers without a point.
    private static func number(_ value: Double) -> String {
      value == value.rounded() && abs(value) < 1e15 ? String(Int64(value)) : "\(value)"
    }

    /// What reads it looks at bytes, so a mark is one also with an accent upon it.
    private static func escaped(_ text: String) -> String {
      var result = ""
      for scalar in Format.printable(text).unicodeScalars {
        switch scalar {
        case "\\": result += "\\\\"
        case "\"": result += "\\\""
        default: result.unicodeScalars.append(scalar)
        }
      }
      return result
    }
  }
}
