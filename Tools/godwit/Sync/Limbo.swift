import ArgumentParser
import Godwit
import ToolSupport

struct Limbo: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "List rows that are held back by a rule of the schema, and what they wait for.",
    discussion: """
      They are released by themselves when what they wait for changes. References that show NULL because their row is
      gone are listed too.

      Examples:
        godwit limbo
        godwit limbo --json | jq .reasons
      """)

  @Option(help: ArgumentHelp("Show this many.", valueName: "count"))
  var limit = 50

  @OptionGroup var options: ReplicaOptions

  func validate() throws {
    guard (1...1_000_000).contains(limit) else { throw ValidationError("--limit is from 1 to 1000000") }
  }

  func run() async throws {
    let (rows, names, count) = try await options.withReplica { replica in
      (
        try await replica.history.limbo(limit: limit), ReplicaNames(try await replica.members.list()),
        try await replica.status(countsRows: false).limbo
      )
    }
    guard !options.json else { return try options.console.lines(rows.lazy.map { $0.json(names).text }) }
    guard !rows.isEmpty else { return options.console.note("nothing is held back") }
    try await options.console.pages(LimboRow.table(rows, names).lines)
    if count > rows.count { options.console.note("\(count - rows.count) more; see --limit") }
  }
}

extension LimboRow {
  static func table(_ rows: [LimboRow], _ names: ReplicaNames) -> TextTable {
    var table = TextTable([
      ("TABLE", .left), ("KEY", .left), ("WHY", .left), ("BY", .left), ("TIME", .left),
    ])
    for row in rows {
      for reason in row.reasons {
        table.add([
          row.table, Format.values(row.key), reason.kind.text + (row.isShown ? "; shows NULL" : ""),
          reason.author.map { names.name($0.replica) } ?? "",
          reason.author?.milliseconds.map { Format.time(milliseconds: $0) } ?? "",
        ])
      }
    }
    return table
  }
}
