import Godwit
import ToolSupport

/// Transactions with a drawing of which were written after which, as text.
struct LogGraphView {
  /// A lane's: the incarnations of a copied replica have one each.
  private struct Writer: Hashable {
    let replica: ReplicaID
    let incarnation: Incarnation.ID
  }

  private let entries: [LogEntry]
  private let merges: [[LogEntry.Head]]
  private let names: ReplicaNames

  /// - Parameters:
  ///   - entries: Newest first.
  ///   - merges: For each of them what its writer had taken in.
  init(_ entries: ArraySlice<LogEntry>, _ merges: [[LogEntry.Head]], _ names: ReplicaNames) {
    self.entries = Array(entries)
    self.merges = merges
    self.names = names.tellingApart(entries.map { ($0.replica, $0.incarnation) })
  }

  /// The transactions, each in a row with its mark, and rows between them where lines begin and end.
  var lines: [String] {
    var graph = LogGraph(entries.map { Self.node($0.head) })
    let drawn = graph.draw(merges.map { $0.map(Self.node) })
    let width = drawn.map(\.row.count).max() ?? 0
    return zip(entries, drawn).flatMap { entry, drawn in
      let row = drawn.row + String(repeating: " ", count: width - drawn.row.count) + "  " + text(entry)
      return (drawn.above + [row] + drawn.below).map { line in
        Format.printable(String(line.prefix(line.count - line.reversed().prefix { $0 == " " }.count)))
      }
    }
  }

  private func text(_ entry: LogEntry) -> String {
    let changes = entry.changes.map(\.text).joined(separator: ", ")
    let name = names.name(entry.replica, entry.incarnation)
    return "\(name) \(entry.sequence)  \(Format.time(milliseconds: entry.milliseconds))  \(changes)"
  }

  private static func node(_ head: LogEntry.Head) -> LogGraph<Writer>.Node {
    .init(Writer(replica: head.replica, incarnation: head.incarnation), head.sequence)
  }
}
