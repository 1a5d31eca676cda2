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
        try await replica.status().limbo
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

  /// Specs/cli.md, "limbo".
  func json(_ names: ReplicaNames) -> JSONValue {
    [
      "table": .string(table), "key": .array(key.map { JSONValue($0) }), "shown": .bool(isShown),
      "values": .object(zip(values.columns, values.values).map { ($0, JSONValue($1)) }),
      "hidden": .array(hiddenReferences.map { .string($0) }), "reasons": .array(reasons.map { $0.json(names) }),
    ]
  }
}

extension LimboRow.Reason {
  /// Specs/cli.md, "Limbo reasons".
  func json(_ names: ReplicaNames) -> JSONValue {
    let (name, columns, values, table, key): (String, [String], [Value], String?, [Value]) =
      switch kind {
      case .uniqueValue(let columns, let values, let holder): ("unique", columns, values, nil, holder)
      case .missingParent(let column, let table, let key): ("parent", [column], [key], table, [key])
      case .circle(let column): ("circle", [column], [], nil, [])
      case .constraint: ("constraint", [], [], nil, [])
      }
    return [
      "kind": .string(name), "columns": .array(columns.map { .string($0) }),
      "values": .array(values.map { JSONValue($0) }), "table": table.map { .string($0) } ?? nil,
      "key": key.isEmpty ? nil : .array(key.map { JSONValue($0) }), "author": .object(names.json(author)),
    ]
  }
}

extension LimboRow.Kind {
  /// `email: x is held by a`.
  var text: String {
    switch self {
    case .uniqueValue(let columns, let values, let holder):
      "\(columns.joined(separator: ", ")): \(Format.values(values)) is held by \(Format.values(holder))"
    case .missingParent(let column, let table, let key): "\(column): \(table) \(Format.value(key)) is not shown"
    case .circle(let column): "\(column): would close a circle"
    case .constraint: "breaks a constraint of this replica"
    }
  }
}
