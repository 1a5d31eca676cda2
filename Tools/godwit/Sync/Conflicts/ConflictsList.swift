import ArgumentParser
import Godwit
import ToolSupport

struct ConflictsList: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List conflicts, newest first.",
    discussion: """
      Of a long value only the beginning is listed; godwit conflicts show NUMBER has all of it.

      Examples:
        godwit conflicts
        godwit conflicts --table note --kind edit --since 7d
      """)

  @Option(help: ArgumentHelp("Only those of this table or collection.", valueName: "table"))
  var table: String?

  @Option(help: ArgumentHelp("Only those of this row: its key, or a JSON array; needs --table.", valueName: "key"))
  var key: String?

  @Option(help: ArgumentHelp("Only edit, delete, unique, reference or constraint.", valueName: "kind"))
  var kind: ConflictKind?

  @Option(help: ArgumentHelp("Only those written since: 2026-01-31, 12h, 7d.", valueName: "time"))
  var since: TimeArgument?

  @OptionGroup var limit: LimitOption
  @OptionGroup var options: ReplicaOptions

  func validate() throws {
    guard key == nil || table != nil else { throw ValidationError("--key needs --table") }
  }

  func run() async throws {
    let (conflicts, names, pruned) = try await options.withReplica { replica in
      var values: [Value]?
      if let key, let table {
        let parsed = try KeyArguments([key], of: try await replica.table(orCollection: table))
        values = parsed.key
      }
      let conflicts = try await replica.list(ofTable: table) { table in
        try await replica.conflicts.list(
          limit: limit.asked, table: table, key: values, kind: kind?.kind, since: since?.date)
      }
      return (
        conflicts, ReplicaNames(try await replica.members.list()),
        try await replica.status(countsRows: false).prunedConflicts
      )
    }
    guard !options.json else {
      return try options.console.lines(conflicts.prefix(limit.limit).lazy.map { $0.json(names).text })
    }
    if conflicts.isEmpty {
      options.console.note("no conflicts")
    } else {
      try await options.console.pages(Self.table(limit.shown(conflicts, options.console), names).lines)
    }
    if pruned > 0 { options.console.note("\(Format.count(pruned, "older one")) dropped") }
  }

  private static func table(_ conflicts: ArraySlice<Conflict>, _ names: ReplicaNames) -> TextTable {
    let names = names.tellingApart(conflicts.flatMap(\.authors))
    var table = TextTable([
      ("NUMBER", .right), ("KIND", .left), ("TABLE", .left), ("KEY", .left), ("COLUMN", .left), ("LOST", .left),
      ("BY", .left), ("TO", .left), ("TIME", .left), ("STATE", .left),
    ])
    for conflict in conflicts {
      table.add([
        "\(conflict.id)", ConflictKind(conflict.kind).rawValue, conflict.table, Format.values(conflict.key),
        conflict.columns.joined(separator: ", "), TextTable.shortened(Format.values(conflict.losingValues)),
        conflict.loser.map { names.name($0.replica, $0.incarnation) } ?? "",
        conflict.winner.map { names.name($0.replica, $0.incarnation) } ?? "",
        conflict.loser?.milliseconds.map { Format.time(milliseconds: $0) } ?? "",
        conflict.state,
      ])
    }
    return table
  }
}

extension ConflictKind: ExpressibleByArgument {}

extension Conflict {
  /// In a word or three.
  var state: String { isResolved ? "resolved" : isOfFormerColumn ? "of a former column" : "open" }

  /// Whether there is no column any more to restore it to.
  var isOfFormerColumn: Bool { kind == .edit && !formerColumns.isEmpty }
}
