/// A name that was typed and that nothing has.
public struct Misspelling {
  private let typed: String

  /// Wraps what was typed.
  public init(_ typed: String) { self.typed = typed }

  /// The nearest of the names that there are, unless it has little to do with what was typed.
  public func nearest(of names: [String]) -> String? {
    let nearest = names.min { Self.distance(typed, $0) < Self.distance(typed, $1) }
    return nearest.flatMap { Self.distance(typed, $0) <= max(1, $0.count / 2) ? $0 : nil }
  }

  /// Levenshtein's distance, where two neighbours swapped count once (optimal string alignment).
  static func distance(_ left: String, _ right: String) -> Int {
    let a = Array(left.lowercased().unicodeScalars)
    let b = Array(right.lowercased().unicodeScalars)
    guard !a.isEmpty, !b.isEmpty else { return max(a.count, b.count) }
    var rows = [Array(0...b.count)]
    for i in 1...a.count {
      var row = [i]
      for j in 1...b.count {
        let cost = a[i - 1] == b[j - 1] ? 0 : 1
        var best = min(rows[i - 1][j] + 1, row[j - 1] + 1, rows[i - 1][j - 1] + cost)
        if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] { best = min(best, rows[i - 2][j - 2] + 1) }
        row.append(best)
      }
      rows.append(row)
    }
    return rows[a.count][b.count]
  }
}
