import ArgumentParser
import Godwit
import ToolSupport

struct Why: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Say why a row is what it is: who wrote its cells, and over what that won.",
    discussion: """
      A key of several columns is given as several arguments, or as a JSON array. Bytes are hexadecimal digits, x'HEX',
      or a UUID. What every member is known to hold is forgotten in time, and has no author then.

      Examples:
        godwit why note 018f3c1e-9d2b-7c44-8a53-0f6b2f3f6f10
        godwit why note 018f3c1e9d2b7c448a530f6b2f3f6f10 title
        godwit why membership '["ada",7]' role
        godwit why accounts a1 balance
      """)

  @Argument(help: "The table, or the collection of documents.")
  var table: String

  @Argument(help: ArgumentHelp("The row's key, then, if only one is asked for, a column.", valueName: "key"))
  var arguments: [String]

  @OptionGroup var options: ReplicaOptions

  func run() async throws {
    let (row, names) = try await options.withReplica { replica in
      let table = try await replica.table(orCollection: table)
      let parsed = try KeyArguments(arguments, of: table)
      guard parsed.rest.count <= 1 else {
        throw GodwitError(
          .invalidArgument, "there are \(parsed.rest.count) arguments behind the key", hint: "see: godwit why --help")
      }
      let row = try await replica.history.explain(table: table.name, key: parsed.key, column: parsed.rest.first)
      return (row, ReplicaNames(try await replica.members.list()))
    }
    let story = RowStory(row, names)
    try await options.json
      ? options.console.line(story.json) : options.console.pages(story.lines.map(Format.printable))
  }
}
