import ArgumentParser
import Godwit
import ToolSupport

struct Log: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "List the latest transactions of all replicas, or show one.",
    discussion: """
      Examples:
        godwit log
        godwit log --graph
        godwit log --table note --origin laptop --since 7d
        godwit log show laptop 7
      """,
    subcommands: [LogList.self, LogShow.self], defaultSubcommand: LogList.self)
}

struct LogList: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List transactions, newest first.",
    discussion: """
      Examples:
        godwit log --limit 5 --json
        godwit log --table note --since 2026-01-31
      """)

  @Option(help: ArgumentHelp("Only those that wrote to this table or collection.", valueName: "table"))
  var table: String?

  @Option(
    help: ArgumentHelp("Only those of this member: its name, its ID or the first digits of that.", valueName: "member"))
  var origin: String?

  @Option(help: ArgumentHelp("Only those written since: 2026-01-31, 12h, 7d.", valueName: "time"))
  var since: TimeArgument?

  @Flag(help: "Draw a line for each member, and from each transaction one to those that its writer had taken in.")
  var graph = false

  @OptionGroup var limit: LimitOption
  @OptionGroup var options: ReplicaOptions

  func validate() throws {
    guard !graph || table == nil && origin == nil && !options.json else {
      throw ValidationError("--graph draws the transactions of all, for people: not with --table, --origin or --json")
    }
  }

  func run() async throws {
    let (entries, merges, names, hasHistory) = try await options.withReplica { replica in
      let names = ReplicaNames(try await replica.members.list())
      var writer: ReplicaID?
      if let origin { writer = try await replica.replicaID(named: origin) }
      let entries = try await replica.list(ofTable: table) { table in
        try await replica.history.log(limit: limit.asked, table: table, replica: writer, since: since?.date)
      }
      let merges = graph ? try await replica.history.merges(of: Array(entries.prefix(limit.limit))) : []
      return (entries, merges, names, try await !replica.status(countsRows: false).applied.isEmpty)
    }
    guard !options.json else {
      return try options.console.lines(entries.prefix(limit.limit).lazy.map { $0.json(names).text })
    }
    guard !entries.isEmpty else {
      let isWhole = table == nil && origin == nil && since == nil
      let none = hasHistory ? "all transactions are forgotten: every member holds them" : "no transactions yet"
      return options.console.note(isWhole ? none : "no such transactions")
    }
    if graph {
      return try await options.console.pages(LogGraphView(limit.shown(entries, options.console), merges, names).lines)
    }
    var listing = TextTable([("TIME", .left), ("REPLICA", .left), ("NUMBER", .right), ("CHANGES", .left)])
    let shown = limit.shown(entries, options.console)
    let told = names.tellingApart(shown.map { ($0.replica, $0.incarnation) })
    for entry in shown {
      listing.add([
        Format.time(milliseconds: entry.milliseconds), told.name(entry.replica, entry.incarnation), "\(entry.sequence)",
        entry.changes.map(\.text).joined(separator: ", "),
      ])
    }
    try await options.console.pages(listing.lines)
  }
}

extension LogEntry {
  /// Specs/cli.md, "log".
  func json(_ names: ReplicaNames) -> JSONValue { .object(members(names)) }

  func members(_ names: ReplicaNames) -> [(String, JSONValue)] {
    names.json(replica) + [
      ("incarnation", .string("\(incarnation)")), ("sequence", .number(sequence)),
      ("time", .string(Format.time(milliseconds: milliseconds))), ("changes", .array(changes.map(\.json))),
    ]
  }
}

extension LogEntry.TableChanges {
  /// `note +3 ~1 -2`: rows inserted, updated, deleted.
  var text: String {
    let counts = [("+", inserted), ("~", updated), ("-", deleted)].filter { $0.1 > 0 }
    return ([table] + counts.map { "\($0)\($1)" }).joined(separator: " ")
  }

  /// Specs/cli.md, "log".
  var json: JSONValue {
    [
      "table": .string(table), "inserted": .number(inserted), "updated": .number(updated),
      "deleted": .number(deleted),
    ]
  }
}
