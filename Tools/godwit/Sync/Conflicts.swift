import ArgumentParser
import Godwit
import ToolSupport

struct Conflicts: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "List writes that lost to writes they had not seen, newest first.",
    discussion: """
      Nothing of them is gone: the losing value is kept.

      Examples:
        godwit conflicts
        godwit conflicts --json | jq .lost.value
      """)

  @OptionGroup var limit: LimitOption
  @OptionGroup var options: ReplicaOptions

  func run() async throws {
    let (conflicts, names) = try await options.withReplica { replica in
      (try await replica.conflicts(limit: limit.limit), ReplicaNames(try await replica.members()))
    }
    guard !options.json else { return try options.console.lines(conflicts.lazy.map { $0.json(names).text }) }
    guard !conflicts.isEmpty else { return options.console.note("no conflicts") }
    var table = TextTable([
      ("NUMBER", .right), ("TABLE", .left), ("KEY", .left), ("COLUMN", .left), ("LOST", .left), ("BY", .left),
      ("TO", .left), ("TIME", .left),
    ])
    for conflict in conflicts {
      table.add([
        "\(conflict.id)", conflict.table, conflict.key.map(Format.value).joined(separator: ", "),
        conflict.column ?? "(delete)", conflict.column == nil ? "" : Format.value(conflict.losingValue),
        conflict.loser.map { names.name($0.replica) } ?? "", conflict.winner.map { names.name($0.replica) } ?? "",
        conflict.loser.map { Format.time(milliseconds: $0.milliseconds) } ?? "",
      ])
    }
    try options.console.lines(table.lines)
  }
}

extension Conflict {
  /// Specs/cli.md, "conflicts".
  fileprivate func json(_ names: ReplicaNames) -> JSONValue {
    func author(_ author: Author?) -> [(String, JSONValue)] {
      guard let author else { return [] }
      return names.json(author.replica) + [("time", .string(Format.time(milliseconds: author.milliseconds)))]
    }
    return [
      "id": .integer(id), "table": .string(table), "key": .array(key.map { JSONValue($0) }),
      "column": column.map { .string($0) } ?? nil,
      "lost": .object([("value", JSONValue(losingValue))] + author(loser)), "won": .object(author(winner)),
    ]
  }
}
