import ArgumentParser
import Godwit
import ToolSupport

struct Missing: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show what waits for transactions that have not come, and who may have those.",
    discussion: """
      Exits with 0 when nothing waits, with 4 when something does.

      Examples:
        godwit missing
        godwit missing --quiet || ssh desk godwit -C notes export --all - | godwit import -
      """)

  @OptionGroup var options: ReplicaOptions

  func run() async throws {
    let (report, names) = try await options.withReplica { replica in
      (try await replica.missing(), ReplicaNames(try await replica.members()))
    }
    let isNothing = report.waiting.isEmpty && report.missing.isEmpty
    if options.json {
      try options.console.line(report.json(names))
    } else if isNothing {
      options.console.note("nothing is missing")
    } else {
      try options.console.lines(report.lines(names).map(Format.printable))
    }
    if !isNothing { throw ExitCode(ExitStatus.missing) }
  }
}

extension MissingReport {
  fileprivate func lines(_ names: ReplicaNames) -> [String] {
    waiting.map { entry in
      "waiting  \(names.name(entry.replica)) \(entry.sequences.text), \(Format.count(entry.transactions, "transaction"))"
    }
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
      "waiting": .array(
        waiting.map { .object(range($0.replica, $0.sequences) + [("transactions", .number($0.transactions))]) }),
      "missing": .array(
        missing.map { entry in
          let holders = JSONValue.array(entry.holders.map { .object(names.json($0)) })
          return .object(range(entry.replica, entry.sequences) + [("holders", holders)])
        }),
    ]
  }
}

extension ClosedRange<UInt64> {
  /// `5`, or `5–9`.
  fileprivate var text: String { count == 1 ? "\(lowerBound)" : "\(lowerBound)–\(upperBound)" }
}
