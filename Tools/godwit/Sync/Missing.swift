import ArgumentParser
import Godwit
import ToolSupport

struct Missing: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show what waits for transactions that have not come, or for a version, and who may have the former.",
    discussion: """
      Exits with 0 when nothing waits, with 4 when something does. What waits of a member can be dropped: it is not
      held, so it comes again, if somebody has it.

      Examples:
        godwit missing
        godwit missing --drop laptop
        godwit missing --quiet || ssh desk godwit -C notes export --all - | godwit import -
      """)

  @Option(help: ArgumentHelp("Drop what waits of this member.", valueName: "member"))
  var drop: String?

  @OptionGroup var options: ReplicaOptions

  func run() async throws {
    if let drop { return try await dropWaiting(of: drop) }
    let (report, names) = try await options.withReplica { replica in
      (try await replica.history.missing(), ReplicaNames(try await replica.members.list()))
    }
    let isNothing = report.waiting.isEmpty && report.missing.isEmpty
    if options.json {
      try options.console.line(report.json(names))
    } else if isNothing {
      options.console.note("nothing is missing")
    } else {
      try await options.console.pages(report.lines(names).map(Format.printable))
    }
    if !isNothing { throw ExitCode(ExitStatus.missing) }
  }

  private func dropWaiting(of member: String) async throws {
    let dropped = try await options.withReplica { try await $0.history.dropWaiting(of: member) }
    let (transactions, bytes) = (dropped.reduce(0) { $0 + $1.transactions }, dropped.reduce(0) { $0 + $1.bytes })
    options.console.note(
      "dropped \(Format.count(transactions, "transaction")) of \(Format.printable(member)), \(Format.byteSize(bytes))")
    if options.json { try options.console.line(["dropped": .number(transactions), "bytes": .number(bytes)]) }
  }
}

extension MissingReport {
  fileprivate func lines(_ names: ReplicaNames) -> [String] {
    waiting.map { "waiting  \($0.text(names))" } + (heldVersion.map { ["version  \($0.text(names))"] } ?? [])
      + missing.map { entry in
        let holders = entry.holders.map(names.name).joined(separator: ", ")
        let who = holders.isEmpty ? "no member is known to have them" : "ask \(holders)"
        return "missing  \(names.name(entry.replica)) \(entry.sequences.text), \(who)"
      }
  }

  /// Specs/cli.md, "missing".
  fileprivate func json(_ names: ReplicaNames) -> JSONValue {
    func range(_ replica: ReplicaID, _ sequences: ClosedRange<UInt64>) -> [(String, JSONValue)] {
      names.json(replica) + [("first", .number(sequences.lowerBound)), ("last", .number(sequences.upperBound))]
    }
    return [
      "waiting": .array(waiting.map { .object($0.fields(names)) }),
      "heldVersion": heldVersion?.json(names) ?? .null,
      "missing": .array(
        missing.map { entry in
          let holders = JSONValue.array(entry.holders.map { .object(names.json($0)) })
          return .object(range(entry.replica, entry.sequences) + [("holders", holders)])
        }),
    ]
  }
}
