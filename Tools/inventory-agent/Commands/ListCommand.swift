import ArgumentParser
import ToolSupport

struct ListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List a machine's packages with pins and notes.",
    discussion: """
      Examples:
        inventory-agent list --pinned
        inventory-agent list --limit 10 libssl
      """)

  @OptionGroup var options: ReplicaOptions

  @Argument(help: "Only packages whose name begins so.")
  var prefix = ""

  @Flag(help: "Only pinned packages.")
  var pinned = false

  @Option(help: "At most so many.")
  var limit: Int?

  @Option(help: "The machine. (default: the only one, or this host)")
  var machine: String?

  func validate() throws {
    guard limit ?? 0 >= 0 else { throw ValidationError("--limit is a number from 0 up.") }
  }

  func run() async throws {
    try await options.withInventory { inventory in
      let packages = try await inventory.packages(
        of: MachineSelector(name: machine), prefix: prefix, onlyPinned: pinned, limit: limit)
      let lines = options.json ? packages.map(\.json.text) : Package.table(of: packages).lines
      try options.console.lines(lines)
    }
  }
}
