import ArgumentParser
import ToolSupport

/// Keeps the packages of Debian machines in a replica: what a machine has, and what its people say about it.
@main
struct InventoryAgent: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "inventory-agent",
    abstract: "Record this machine's Debian packages in a replica, and annotate them.",
    discussion: """
      Examples:
        inventory-agent scan --available
        inventory-agent note openssl "held until the audit"
        inventory-agent list --pinned
      """,
    subcommands: [
      ScanCommand.self, NoteCommand.self, PinCommand.self, UnpinCommand.self, ForgetCommand.self, ListCommand.self,
    ])

  static func main() { Tool.main(Self.self) }
}
