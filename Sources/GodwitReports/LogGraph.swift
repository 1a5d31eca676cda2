/// Draws which transactions were written after which, as `git log --graph` does: a lane for each writer, and a line
/// from each transaction to those of others that its writer had taken in since its own last one.
package struct LogGraph<Writer: Hashable> {
  /// One transaction of a writer.
  package struct Node: Hashable {
    package let writer: Writer
    package let sequence: UInt64

    package init(_ writer: Writer, _ sequence: UInt64) {
      self.writer = writer
      self.sequence = sequence
    }
  }

  /// A transaction, drawn.
  package struct Drawn {
    /// The row with its mark.
    package let row: String
    /// Rows above it, where lines end, and below it, where some begin.
    package let above, below: [String]
  }

  /// Lanes of writers from the left; then lines that wait for a transaction further down its lane.
  private var lanes: [Writer]
  private var isBegun: Set<Writer> = []
  private var waiting: [Node?] = []
  private let nodes: [Node]
  private let known: Set<Node>
  /// For each writer its transactions that are not drawn yet, the next one last.
  private var ahead: [Writer: [Node]]

  /// - Parameter nodes: Newest first: none before what was written after it.
  package init(_ nodes: [Node]) {
    self.nodes = nodes
    known = Set(nodes)
    var lanes: [Writer] = []
    for node in nodes where !lanes.contains(node.writer) { lanes.append(node.writer) }
    self.lanes = lanes
    ahead = Dictionary(grouping: nodes.reversed(), by: \.writer)
  }

  /// Draws the transactions, in their order.
  ///
  /// - Parameter merges: What each of them took in, in the same order; what is not drawn itself is left out.
  package mutating func draw(_ merges: [[Node]]) -> [Drawn] {
    zip(nodes, merges).map { draw($0, $1.filter(known.contains)) }
  }

  private mutating func draw(_ node: Node, _ merges: [Node]) -> Drawn {
    let lane = self.lane(of: node.writer)
    isBegun.insert(node.writer)
    var above: [String] = []
    for index in waiting.indices where waiting[index] == node {
      above.append(line(from: lane, to: lanes.count + index, sign: "/"))
      waiting[index] = nil
    }
    while waiting.last == .some(nil) { waiting.removeLast() }
    let row = marks { $0 == lane ? "*" : nil }
    ahead[node.writer]?.removeLast()
    let below = merges.map { merge in
      let other = self.lane(of: merge.writer)
      if ahead[merge.writer]?.last == merge {
        defer { isBegun.insert(merge.writer) }
        return other > lane ? line(from: lane, to: other, sign: "\\") : line(from: other, to: lane, sign: "/")
      }
      if let index = waiting.firstIndex(of: merge) { return line(from: lane, to: lanes.count + index, sign: "\\") }
      let index = waiting.firstIndex(of: nil) ?? waiting.count
      if index == waiting.count { waiting.append(nil) }
      defer { waiting[index] = merge }
      return line(from: lane, to: lanes.count + index, sign: "\\")
    }
    return Drawn(row: row, above: above, below: below)
  }

  private func lane(of writer: Writer) -> Int { lanes.firstIndex(of: writer) ?? 0 }

  /// Whether a line runs there.
  private func runs(_ column: Int) -> Bool {
    guard column < lanes.count else { return waiting[column - lanes.count] != nil }
    return isBegun.contains(lanes[column]) && ahead[lanes[column]]?.isEmpty == false
  }

  private func marks(_ mark: (Int) -> Character?) -> String {
    (0..<lanes.count + waiting.count).map { column in
      String(mark(column) ?? (runs(column) ? "|" : " "))
    }.joined(separator: " ")
  }

  /// A row in which a line leads from the left column to the right one: `|\`, or `|-+-/` across others.
  private func line(from left: Int, to right: Int, sign: Character) -> String {
    var row = Array(marks { _ in nil })
    for place in 2 * left + 1..<2 * right { row[place] = row[place] == "|" ? "+" : "-" }
    // The slope is where the line leaves its lane: at the right end, or at the left one that it comes down to.
    let leftward = sign == "/" && right < lanes.count
    row[leftward ? 2 * right : 2 * left] = "|"
    row[leftward ? 2 * left + 1 : 2 * right - 1] = sign
    return String(row)
  }
}
