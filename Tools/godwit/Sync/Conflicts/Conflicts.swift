import ArgumentParser
import Godwit
import ToolSupport

struct Conflicts: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Look at writes that lost to writes they had not seen, and restore them.",
    discussion: """
      Nothing of them is gone: the losing value is kept.

      Examples:
        godwit conflicts
        godwit conflicts list --table note --json | jq .lost.value
        godwit conflicts show 12
        godwit conflicts restore 12
      """,
    subcommands: [ConflictsList.self, ConflictsShow.self, ConflictsRestore.self, ConflictsPrune.self],
    defaultSubcommand: ConflictsList.self)
}

extension Conflict.ID: ExpressibleByArgument {}
