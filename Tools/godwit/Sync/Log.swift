import ArgumentParser
import Godwit
import ToolSupport

struct Log: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "List the latest transactions of all replicas, newest first.",
    discussion: """
      Examples:
        godwit log
        godwit log --limit 5 --json
      """)

  @OptionGroup var limit: LimitOption
  @OptionGroup var options: ReplicaOptions

  func run() async throws {
    let (entries, names) = try await options.withReplica { replica in
      (try await replica.log(limit: limit.limit), ReplicaNames(try await replica.members()))
    }
    guard !options.json else { return try options.console.lines(entries.lazy.map { $0.json(names).text }) }
    guard !entries.isEmpty else { return options.console.note("no transactions yet") }
    var table = TextTable([("TIME", .left), ("REPLICA", .left), ("NUMBER", .right), ("CHANGES", .left)])
    for entry in entries {
      table.add([
        Format.time(milliseconds: entry.milliseconds), names.name(entry.replica), "\(entry.sequence)",
        entry.changes.map(\.text).joined(separator: ", "),
      ])
    }
    try options.console.lines(table.lines)
  }
}

extension LogEntry {
  /// Specs/cli.md, "log".
  fileprivate func json(_ names: ReplicaNames) -> JSONValue {
    .object(
      names.json(replica) + [
        ("sequence", .number(sequence)), ("time", .string(Format.time(milliseconds: milliseconds))),
        (
          "changes",
          .array(
            changes.map {
              [
                "table": .string($0.table), "inserted": .number($0.inserted), "updated": .number($0.updated),
                "deleted": .number($0.deleted),
              ]
            })
        ),
      ])
  }
}

extension LogEntry.TableChanges {
  /// `note +3 ~1 -2`: rows inserted, updated, deleted.
  fileprivate var text: String {
    let counts = [("+", inserted), ("~", updated), ("-", deleted)].filter { $0.1 > 0 }
    return ([table] + counts.map { "\($0)\($1)" }).joined(separator: " ")
  }
}
