import ArgumentParser
import ToolSupport

struct PinCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pin", abstract: "Mark a package to be kept as it is.",
    discussion: """
      Example:
        inventory-agent pin openssl
      """)

  @OptionGroup var options: ReplicaOptions
  @OptionGroup var package: PackageArguments

  func run() async throws {
    try await options.withInventory { inventory in
      let count = try await inventory.edit(package.selector) { $0.isPinned = true }
      try options.console.report("pinned", packages: count)
    }
  }
}
