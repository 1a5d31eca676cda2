import ArgumentParser
import ToolSupport

struct ForgetCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "forget", abstract: "Delete a package with its note.",
    discussion: """
      Example:
        inventory-agent forget openssl

      The next scan records it anew if the machine still has it.
      """)

  @OptionGroup var options: ReplicaOptions
  @OptionGroup var package: PackageArguments

  func run() async throws {
    try await options.withInventory { inventory in
      let count = try await inventory.forget(package.selector)
      try options.console.report("forgot", packages: count)
    }
  }
}
