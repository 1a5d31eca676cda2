import ArgumentParser
import Godwit
import ToolSupport

struct ConflictsPrune: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "prune", abstract: "Drop old conflicts; they stay counted.",
    discussion: """
      Imports keep the newest 10000 by themselves.

      Examples:
        godwit conflicts prune --before 90d
        godwit conflicts prune --keep 100
      """)

  @Option(help: ArgumentHelp("Those written before: 2026-01-31, 12h, 90d.", valueName: "time"))
  var before: TimeArgument?

  @Option(help: ArgumentHelp("All but this many, the newest.", valueName: "count"))
  var keep: Int?

  @OptionGroup var options: ReplicaOptions

  func validate() throws {
    guard (before == nil) != (keep == nil) else { throw ValidationError("give either --before or --keep") }
    guard keep ?? 0 >= 0 else { throw ValidationError("--keep is a count") }
  }

  func run() async throws {
    let count = try await options.withReplica { replica in
      if let before { return try await replica.conflicts.prune(before: before.date) }
      return try await replica.conflicts.prune(keeping: keep ?? 0)
    }
    guard !options.json else { return try options.console.line(["pruned": .number(count)]) }
    options.console.note("dropped \(Format.count(count, "conflict"))")
  }
}
