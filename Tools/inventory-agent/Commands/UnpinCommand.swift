import ArgumentParser
import ToolSupport

struct UnpinCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "unpin", abstract: "Take the pin off a package.",
    discussion: """
      Example:
        inventory-agent unpin openssl
      """)

  @OptionGroup var options: ReplicaOptions
  @OptionGroup var package: PackageArguments

  func run() async throws {
    try await options.withInventory { inventory in
      let count = try await inventory.edit(package.selector) { $0.isPinned = false }
      try options.console.report("unpinned", packages: count)
    }
  }
}
