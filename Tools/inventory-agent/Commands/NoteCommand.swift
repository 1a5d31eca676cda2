import ArgumentParser
import ToolSupport

struct NoteCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "note", abstract: "Write a note about a package.",
    discussion: """
      Examples:
        inventory-agent note openssl "held until the audit"
        inventory-agent note openssl ""
      """)

  @OptionGroup var options: ReplicaOptions
  @OptionGroup var package: PackageArguments

  @Argument(help: "The note; it takes the place of the one before.")
  var text: String

  func run() async throws {
    try await options.withInventory { inventory in
      let count = try await inventory.edit(package.selector) { [text] in $0.note = text }
      try options.console.report("noted", packages: count)
    }
  }
}
