import ArgumentParser
import Godwit
import ToolSupport

struct ConflictsShow: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Show one conflict: what lost, what won, and who wrote both.",
    discussion: """
      Examples:
        godwit conflicts show 12
      """)

  @Argument(help: "The conflict's number.")
  var number: Conflict.ID

  @OptionGroup var options: ReplicaOptions

  func run() async throws {
    let (conflict, names, lacksRow) = try await options.withReplica { replica in
      let conflict = try await replica.conflicts.show(number)
      let isOpen = conflict.map { !$0.isResolved && !$0.isOfFormerColumn } ?? false
      return (
        conflict, ReplicaNames(try await replica.members.list()),
        isOpen ? try await replica.conflicts.lacksRow(of: number) : false
      )
    }
    guard let conflict else {
      throw GodwitError(.notFound, "there is no conflict \(number)", hint: "see: godwit conflicts")
    }
    try await options.json
      ? options.console.line(conflict.json(names))
      : options.console.pages(
        conflict.lines(names.tellingApart(conflict.authors), lacksRow: lacksRow).map(Format.printable))
  }
}

extension Conflict {
  /// Whether a write to another row ends it, and none to its own.
  private var waits: Bool {
    switch kind {
    case .unique, .reference: true
    case .constraint: columns.isEmpty
    case .edit, .delete: false
    }
  }

  fileprivate func lines(_ names: ReplicaNames, lacksRow: Bool) -> [String] {
    let about = columns.isEmpty ? "" : ", \(columns.joined(separator: ", "))"
    let (lost, won) = sides
    let state =
      if isResolved || isOfFormerColumn {
        self.state
      } else if lacksRow {
        "open; the row is gone, and nothing else is remembered of it: insert it anew with what lost"
      } else if waits {
        "open; what ends that its row waits: godwit limbo"
      } else {
        "open; to write again what lost: godwit conflicts restore \(id)"
      }
    return [
      "conflict  \(id), \(ConflictKind(kind).rawValue)", "row       \(table) \(Format.values(key))\(about)",
      "lost      \(lost.text)", "          by \(names.text(loser))", "won       \(won.text)",
      "          by \(names.text(winner))", "state     \(state)",
    ]
  }
}
