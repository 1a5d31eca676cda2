import ArgumentParser
import Foundation
import Godwit
import ToolSupport

struct Status: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show where the replica stands: members, tables, what is held and what is missing.",
    discussion: """
      Examples:
        godwit status
        godwit status --watch
        godwit -C notes status --json
      """)

  @Flag(help: "Stay, and show it again when any program has written to the replica, until Ctrl-C.")
  var watch = false

  @OptionGroup var options: ReplicaOptions

  func run() async throws {
    try await options.withReplica { replica in
      guard watch else { return try await show(replica) }
      // From before the first look, so that no change is missed.
      let changes = replica.changes(of: [])
      do {
        try await show(replica)
        for await _ in changes {
          try await show(replica)
          // What follows at once is shown together.
          try await Task.sleep(for: .milliseconds(300))
        }
      } catch is CancellationError {
        // Ctrl-C is how it ends.
      }
    }
  }

  private func show(_ replica: Replica) async throws {
    let report = StatusReport(
      replica: replica, status: try await replica.status(), members: try await replica.members.list())
    if watch, !options.json, StandardStream.output.isTerminal {
      // The cursor goes home, and what was there is cleared.
      try StandardStream.output.write("\u{1B}[H\u{1B}[2J")
    } else if watch, !options.json {
      try options.console.line("\nat \(Format.time(Date()))")
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
