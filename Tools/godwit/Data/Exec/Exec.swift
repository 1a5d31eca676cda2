import ArgumentParser
import Godwit
import ToolSupport

struct Exec: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Run statements of SQL that write, all of them or none.",
    discussion: """
      What they write to synced tables is logged as one transaction, and travels as any other write. The database \
      holds them to its own rules: keys, unique values, checks and references. Rules and hooks that a program has in \
      code are not run. A table that they make stays on this machine. \
      A new row needs a key; where it is a record ID, randomblob(16) makes one.

      Examples:
        godwit exec "UPDATE note SET done = 1 WHERE title = 'milk'"
        godwit exec "INSERT INTO note (id, title) VALUES (randomblob(16), 'bread')" "DELETE FROM note WHERE done"
        godwit exec --dry-run --file cleanup.sql
        ssh desk cat cleanup.sql | godwit exec -
      """)

  @Argument(help: "Statements of SQL, one or several in each argument, or - for the standard input.")
  var sql: [String] = []

  @Option(help: ArgumentHelp("Read the statements from this file.", valueName: "path"))
  var file: String?

  @Flag(help: "Run everything and take it back.")
  var dryRun = false

  @OptionGroup var options: ReplicaOptions

  func validate() throws {
    guard sql.isEmpty == (file != nil) else {
      throw ValidationError("give statements of SQL, - for the standard input, or a file with --file")
    }
    guard !sql.contains("-") || sql.count == 1 else { throw ValidationError("- stands alone") }
    try options.claimInput(sql)
  }

  func run() async throws {
    let script = try Script(sql, file: file)
    let isDryRun = dryRun
    let outcomes = try await options.withReplica { replica in
      try await WriteError.wrapping {
        do {
          return try await isDryRun ? replica.rehearse(script.run) : replica.write(script.run)
        } catch let error as GodwitError {
          let explained = await replica.namingTables(in: error)
          throw GodwitError(
            error.code, "\(error.message); nothing was changed", hint: explained.hint, underlying: error.underlying)
        }
      }
    }
    try report(outcomes)
    if script.makesTable, !dryRun, !options.json { options.console.note(SQLSplitter.Statement.tableNote) }
  }

  /// More say nothing more to people; `--json` has them all.
  private static let shownMax = 20

  private func report(_ outcomes: [Script.Outcome]) throws {
    let console = options.console
    let total = outcomes.reduce(0) { $0 + $1.changed }
    guard !options.json else {
      return try console.line([
        "statements": .array(
          outcomes.map { ["changed": .number($0.changed), "findsRows": .bool($0.findsRows)] }),
        "changed": .number(total), "dryRun": .bool(dryRun),
      ])
    }
    let isOne = outcomes.count == 1
    for (index, outcome) in outcomes.prefix(Self.shownMax).enumerated() {
      let name = isOne ? "the statement" : "statement \(index + 1)"
      if !isOne { console.note("\(name) changed \(Format.count(outcome.changed, "row"))") }
      if outcome.findsRows { console.note("\(name) finds rows, which are not shown; use: godwit query") }
    }
    if outcomes.count > Self.shownMax { console.note("and \(outcomes.count - Self.shownMax) more; all with --json") }
    console.note("changed \(Format.count(total, "row"))\(isOne ? "" : " in all")")
    if dryRun { console.note("all of it was taken back: nothing was changed") }
  }
}
