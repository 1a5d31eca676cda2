import ArgumentParser
import Godwit
import ToolSupport

struct Tables: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tables",
    abstract: "List the tables that are synced, collections of documents among them.",
    discussion: """
      Examples:
        godwit tables
        godwit tables --json | jq -r .collection
      """)

  @OptionGroup var options: ReplicaOptions

  func run() async throws {
    let (status, collections) = try await options.withReplica { replica in
      (try await replica.status(), try await replica.collections().map { (try replica.documents($0).table, $0) })
    }
    let tables = status.tables.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    let names = Dictionary(collections) { first, _ in first }
    guard !options.json else {
      return try options.console.lines(
        tables.map { table in
          let collection = names[table.name].map(JSONValue.string) ?? .null
          return JSONValue.object([
            ("table", .string(table.name)), ("rows", .number(table.rows)), ("collection", collection),
          ]).text
        })
    }
    guard !tables.isEmpty else { return options.console.note("no tables") }
    var table = TextTable([("table", .left), ("rows", .right), ("collection", .left)])
    for entry in tables { table.add([entry.name, String(entry.rows), names[entry.name] ?? ""]) }
    try options.console.lines(table.lines)
  }
}
