import ArgumentParser
import Godwit
import ToolSupport

struct ConflictsRestore: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore", abstract: "Write again what lost, as a new change.",
    discussion: """
      A lost edit writes its value into the cell; when the row has been deleted, it is inserted again from what is
      remembered of it. A lost delete deletes the row. A row in limbo is released by a change of another row: see
      godwit limbo.

      Examples:
        godwit conflicts restore 12
      """)

  @Argument(help: "The conflict's number.")
  var number: Conflict.ID

  @OptionGroup var options: ReplicaOptions

  func run() async throws {
    let hasWritten = try await options.withReplica { try await $0.conflicts.restore(number) }
    guard !options.json else {
      return try options.console.line(["id": .number(number), "written": .bool(hasWritten)])
    }
    options.console.note(hasWritten ? "restored conflict \(number)" : "nothing was left to restore")
  }
}
