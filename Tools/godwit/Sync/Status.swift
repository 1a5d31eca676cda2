import ArgumentParser
import Godwit
import ToolSupport

struct Status: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show where the replica stands: members, tables, what is held and what is missing.",
    discussion: """
      Examples:
        godwit status
        godwit -C notes status --json
      """)

  @OptionGroup var options: ReplicaOptions

  func run() async throws {
    let report = try await options.withReplica { replica in
      StatusReport(replica: replica, status: try await replica.status(), members: try await replica.members.list())
    }
    let status = report.status
    try options.json ? options.console.line(report.json) : options.console.lines(StatusView(report).lines)
    if status.conflicts > 0 { options.console.note("see: godwit conflicts") }
    if status.limbo > 0 { options.console.note("see: godwit limbo") }
    if !status.forks.isEmpty {
      options.console.note(
        "one side takes the other's state: godwit export --state FILE there, godwit import --rejoin FILE here")
    }
    if status.staged > 0 { options.console.note("see: godwit missing") }
  }
}
