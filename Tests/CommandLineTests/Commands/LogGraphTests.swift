import Foundation
import Godwit
import GodwitReports
import TestFolders
import Testing

/// Specs/explaining.md, "The graph".
@Suite("Drawings of the log")
struct LogGraphTests {
  private typealias Node = LogGraph<Int>.Node

  /// Transactions of writers that now and then take in what others wrote, newest first, with what each took in.
  private static func history(_ seed: UInt64) -> (nodes: [Node], merges: [[Node]]) {
    var state = seed &+ 1
    func random(_ limit: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % limit
    }
    let writers = 1 + random(5)
    var last = [UInt64](repeating: 0, count: writers)
    var seen = (0..<writers).map { _ in [UInt64](repeating: 0, count: writers) }
    var nodes: [(Node, [Node])] = []
    for _ in 0..<30 {
      let writer = random(writers)
      let taken = (0..<writers).filter { $0 != writer && random(4) == 0 && last[$0] > seen[writer][$0] }
      let merges = taken.map { other in
        let head = seen[writer][other] + 1 + UInt64(random(Int(last[other] - seen[writer][other])))
        seen[writer][other] = head
        return Node(other, head)
      }
      last[writer] += 1
      nodes.append((Node(writer, last[writer]), merges))
    }
    return (nodes.reversed().map(\.0), nodes.reversed().map(\.1))
  }

  @Test("each line, followed down, leads to what was taken in, and none leads on", arguments: UInt64(0)..<200)
  func lines(seed: UInt64) {
    let (nodes, merges) = Self.history(seed)
    var graph = LogGraph(nodes)
    let drawn = graph.draw(merges)
    let rows = zip(nodes, drawn).flatMap { node, drawn in
      drawn.above.map { Row($0, node, isMark: false, isAbove: true) } + [
        Row(drawn.row, node, isMark: true, isAbove: false)
      ]
        + drawn.below.map { Row($0, node, isMark: false, isAbove: false) }
    }
    let columns = Dictionary(grouping: rows.filter(\.isMark), by: \.node.writer).mapValues {
      Set($0.map { $0.place("*") })
    }
    #expect(columns.values.allSatisfy { $0.count == 1 }, "seed \(seed): a writer has one lane")
    var index = 0
    for (merges, drawn) in zip(merges, drawn) {
      index += drawn.above.count
      #expect(drawn.below.count == merges.count)
      for (offset, merge) in merges.enumerated() {
        let found = Self.follow(rows, from: index + 1 + offset)
        #expect(found == merge, "seed \(seed), row \(index)")
      }
      index += 1 + drawn.below.count
    }
    #expect(rows.last?.text.contains("|") == false || drawn.last?.below.isEmpty == false)
  }

  private struct Row {
    let text: [Character]
    let node: Node
    let isMark, isAbove: Bool

    init(_ text: String, _ node: Node, isMark: Bool, isAbove: Bool) {
      (self.text, self.node, self.isMark, self.isAbove) = (Array(text), node, isMark, isAbove)
    }

    func place(_ sign: Character) -> Int? { text.firstIndex(of: sign) }
  }

  /// As an eye does: along the slope to a column, and down it to a mark, or to where it bends into a lane.
  private static func follow(_ rows: [Row], from start: Int) -> Node? {
    let row = rows[start]
    guard let place = row.place("\\").map({ $0 + 1 }) ?? row.place("/").map({ $0 - 1 }) else { return nil }
    for next in rows[(start + 1)...] {
      if next.isAbove, next.place("/") == place - 1 { return next.node }
      if next.isMark, next.text[place] == "*" { return next.node }
      guard place < next.text.count, next.text[place] != " " else { return nil }
    }
    return nil
  }

  @Test("by the program, and not where it would draw a part")
  func command() throws {
    let desk = try Machine("desk")
    try #require(try desk.godwit("init").status == 0)
    for key in ["a", "b"] {
      try #require(try desk.godwit("put", "todo", "--as", key, input: Data("{}".utf8)).status == 0)
    }
    let lines = try desk.godwit("log", "--graph").lines
    #expect(lines.count == 2 && lines.allSatisfy { $0.hasPrefix("*  ") }, "\(lines)")
    for options in [["--table", "todo"], ["--origin", "desk"], ["--json"]] {
      #expect(try desk.run(["log", "--graph"] + options).status == 64)
    }
  }

  @Test("two members that take in each other's")
  func pair() async throws {
    let world = try await PageWorld()
    let lines = try world.desk.godwit("log", "--graph").lines
    #expect(lines.first?.hasPrefix("*  ") == true || lines.first?.hasPrefix("*    ") == true, "\(lines)")
    #expect(lines.contains { $0.hasPrefix("|\\") || $0.hasPrefix("|/") }, "\(lines)")
    #expect(lines.filter { $0.contains("*") }.count == (try world.desk.godwit("log").lines.count) - 1)
  }

  @Test("the status is shown again when another process writes, until Ctrl-C")
  func watch() async throws {
    let desk = try Machine("desk")
    try #require(try desk.godwit("init").status == 0)
    let output = desk.path("watch.out")
    try Data().write(to: URL(fileURLWithPath: output))
    let process = desk.process(["status", "--watch", "--json"])
    process.standardOutput = FileHandle(forWritingAtPath: output)
    try process.run()
    let text = { try String(contentsOfFile: output, encoding: .utf8) }
    try await Patience.until { try text().contains("\n") }
    try #require(try desk.godwit("put", "todo", "--as", "1", input: Data("{}".utf8)).status == 0)
    try await Patience.until { try text().contains("\"documents_todo\",\"rows\":1") }
    process.interrupt()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
  }
}
