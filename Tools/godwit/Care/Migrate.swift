import ArgumentParser
import Godwit
import ToolSupport

struct Migrate: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Bring the tables to a newer version, all of it or nothing.",
    discussion: """
      Programs migrate their replicas themselves. This is for replicas whose program is elsewhere: without a file it
      runs the migrations that came with sync files, and says with whose. Data steps, which are SQL, never come with a
      sync file: to run them takes a migration file of the program's.

      Examples:
        godwit migrate --status
        godwit migrate --dry-run
        godwit migrate notes.migrations
      """)

  @Argument(
    help: "A file with migrations; - is the standard input. (default: those that other replicas have sent)",
    completion: .file())
  var file: String?

  @Flag(help: "Run everything and take it back.")
  var dryRun = false

  @Flag(help: "Show which migrations ran here, and which are known.")
  var status = false

  @Flag(help: "Write the known migrations as a file to the standard output.")
  var print = false

  @OptionGroup var options: ReplicaOptions

  func validate() throws {
    guard [dryRun, status, print].filter({ $0 }).count <= 1 else {
      throw ValidationError("--dry-run, --status and --print do not go together")
    }
    guard file == nil || !status && !print else {
      throw ValidationError("--status and --print show what is here, and take no file")
    }
    try options.claimInput([file])
  }

  func run() async throws {
    let console = options.console
    try await options.withReplica { replica in
      if status {
        let (status, losses) = (try await replica.migrations.status(), try await replica.migrations.losses())
        let names = ReplicaNames(try await replica.members.list())
        return try options.json
          ? console.line(status.json(losses, names)) : console.lines(status.lines(losses, names))
      }
      if print {
        let text = try await replica.migrations.known().json()
        guard options.json || StandardStream.output.isTerminal else { return try console.line(String(text.dropLast())) }
        // Names are other members'; JSON has another form for what commands a terminal.
        let lines = text.dropLast().split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        return try console.lines(lines.map(Format.escapedJSON))
      }
      let migrations = try await migrations(for: replica)
      let bar = console.progress("migrating")
      defer { bar.finish() }
      let plan =
        try await dryRun
        ? replica.migrations.plan(migrations) : replica.migrations.run(migrations) { bar.update($0) }
      let names = ReplicaNames(try await replica.members.list())
      try options.json
        ? console.line(plan.json(isDryRun: dryRun, names)) : console.lines(plan.lines(isDryRun: dryRun, names))
    }
  }

  private func migrations(for replica: Replica) async throws -> Migrations {
    guard let file else { return try await replica.migrations.known() }
    return try Migrations(reading: SyncSource(argument: file))
  }
}

extension Migrations.Status {
  fileprivate func lines(_ losses: [MigrationLoss], _ names: ReplicaNames) -> [String] {
    guard !migrations.isEmpty else { return ["the tables have no versions"] }
    var table = TextTable([
      ("VERSION", .right), ("NAME", .left), ("KIND", .left), ("RAN", .left), ("CAME FROM", .left), ("CHECKSUM", .left),
    ])
    for entry in migrations {
      let time = entry.appliedAtMilliseconds.map { Format.time(milliseconds: $0) } ?? "not here"
      let bringer = entry.broughtBy.map(names.name) ?? "-"
      table.add([
        "\(entry.version)", entry.name, entry.isAddition ? "addition" : "barrier", time, bringer,
        String(entry.checksum.prefix(16)),
      ])
    }
    let waiting = held.map { ["", $0.text(names)] } ?? []
    let lost = losses.isEmpty ? [] : [""] + MigrationLoss.lines(losses)
    return table.lines + waiting + lost
  }

  /// Specs/cli.md, "migrate --status".
  fileprivate func json(_ losses: [MigrationLoss], _ names: ReplicaNames) -> JSONValue {
    [
      "version": .number(version), "losses": .array(losses.map(\.json)), "held": held?.json(names) ?? .null,
      "migrations": .array(
        migrations.map { entry in
          [
            "version": .number(entry.version), "name": .string(entry.name),
            "kind": .string(entry.isAddition ? "addition" : "barrier"), "checksum": .string(entry.checksum),
            "ran": entry.appliedAtMilliseconds.map { .string(Format.time(milliseconds: $0)) } ?? .null,
            "broughtBy": entry.broughtBy.map { .object(names.json($0)) } ?? .null,
            "steps": .array(entry.steps.map { .string($0) }),
          ]
        }),
    ]
  }
}

extension Migrations.Plan {
  fileprivate func lines(isDryRun: Bool, _ names: ReplicaNames) -> [String] {
    guard !versions.isEmpty else { return ["nothing to do: the tables are of version \(from)"] }
    var lines: [String] = []
    for version in versions {
      lines.append("\(version.version) \(version.name)")
      lines.append(
        version.isAddition
          ? "  (an addition: it travels, and older programs continue as before)"
          : "  (a barrier: members that have not passed it hold back what is written after it)")
      if let bringer = version.broughtBy { lines.append("  (came with a file of \(names.name(bringer)))") }
      lines += version.steps.map { "  \($0)" }
      lines += version.rebuilt.map { "  (writes \(Format.count($0.rows, "row")) of \($0.table) anew)" }
      if version.written > 0 { lines.append("  (logs \(Format.count(version.written, "change")))") }
      if version.released > 0 { lines.append("  (applies \(Format.count(version.released, "waiting transaction")))") }
      lines += version.unfit.map { "  (cannot apply \($0.text(names)), which stays)" }
    }
    if !losses.isEmpty { lines += MigrationLoss.lines(losses) }
    return (lines + [isDryRun ? "nothing was changed" : "the tables are of version \(to)"]).map(Format.printable)
  }

  /// Specs/cli.md, "migrate".
  fileprivate func json(isDryRun: Bool, _ names: ReplicaNames) -> JSONValue {
    [
      "from": .number(from), "to": .number(to), "dryRun": .bool(isDryRun),
      "versions": .array(
        versions.map { version in
          [
            "version": .number(version.version), "name": .string(version.name),
            "kind": .string(version.isAddition ? "addition" : "barrier"),
            "broughtBy": version.broughtBy.map { .object(names.json($0)) } ?? .null,
            "steps": .array(version.steps.map { .string($0) }),
            "rebuilt": .array(version.rebuilt.map { ["table": .string($0.table), "rows": .number($0.rows)] }),
            "written": .number(version.written), "released": .number(version.released),
            "unfit": .array(version.unfit.map { $0.json(names) }),
          ]
        }),
      "losses": .array(losses.map(\.json)),
    ]
  }
}

extension MigrationLoss {
  /// More say nothing more to people; `--json` has them all.
  private static let shownMax = 20

  fileprivate static func lines(_ losses: [MigrationLoss]) -> [String] {
    var lines = ["\(Format.count(losses.count, "value")) could not be kept exactly"]
    lines += losses.prefix(shownMax).map { loss in
      let cell = "\(loss.table) \(Format.values(loss.key)) \(loss.column)"
      return Format.printable("  \(cell): \(Format.value(loss.value)) (migration \(loss.version))")
    }
    if losses.count > shownMax { lines.append("  and \(losses.count - shownMax) more; all with --json") }
    return lines
  }

  /// Specs/cli.md, "migrate".
  fileprivate var json: JSONValue {
    [
      "version": .number(version), "table": .string(table), "key": .array(key.map { JSONValue($0) }),
      "column": .string(column), "value": JSONValue(value),
    ]
  }
}
