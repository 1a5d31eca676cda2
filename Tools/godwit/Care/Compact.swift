import ArgumentParser
import Godwit
import ToolSupport

struct Compact: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Forget the history that all members are known to hold.",
    discussion: """
      Imports do so by themselves, a little each time. What one member still lacks is kept; a replica without other
      members keeps no history.

      Examples:
        godwit compact
      """)

  @OptionGroup var options: ReplicaOptions

  func run() async throws {
    let console = options.console
    let report = try await options.withReplica { try await $0.maintenance.compact() }
    if options.json {
      return try console.line([
        "transactions": .number(report.transactions), "rows": .number(report.rows), "bytes": .number(report.bytes),
      ])
    }
    try console.line(
      "forgot \(Format.count(report.transactions, "transaction")) and what was remembered of "
        + "\(Format.count(report.rows, "row")); gave back \(Format.byteSize(report.bytes))")
  }
}
