import ArgumentParser
import Godwit
import ToolSupport

struct Import: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Apply sync files, each of them whole or not at all.",
    discussion: """
      Files may come in any order and more than once. One that fails does not keep the others from being applied.

      Examples:
        godwit import desk.godwit-sync
        ssh desk godwit -C notes export - | godwit import -
        godwit import --fail-on-conflict /media/stick/*.godwit-sync
        godwit import --plan desk.godwit-sync
        godwit import --plan --rejoin whole.godwit-sync
        godwit import desk-*.godwit-sync
      """)

  @Argument(help: "The files; - is the standard input.", completion: .file())
  var files: [String]

  @Flag(help: "Exit with 3 when a file was applied and left conflicts.")
  var failOnConflict = false

  @Flag(
    help: """
      Let a state file replace this replica's state when it lacks what all others have forgotten. Its own unsent \
      changes are made anew.
      """)
  var rejoin = false

  @Flag(help: "Change nothing; say what each file alone would do.")
  var plan = false

  @OptionGroup var options: ReplicaOptions

  func validate() throws { try options.claimInput(files) }

  func run() async throws {
    let (conflicts, failure) = try await options.withReplica { replica in
      var conflicts = 0
      var failure: Int32?
      for (source, file) in try SyncSource.sources(arguments: files) {
        do {
          let report =
            plan ? try await foretell(source, file, on: replica) : try await apply(source, file, to: replica)
          conflicts += report.attention.conflicts
          let names = ReplicaNames(try await replica.members.list())
          if let error = report.unsigned(names) ?? report.fenced(names) { throw error }
        } catch let error as GodwitError {
          let report = ErrorReport(error.naming(file))
          report.write(program: GodwitCommand.configuration.commandName ?? "")
          failure = failure ?? report.status
        }
      }
      return (conflicts, failure)
    }
    if let failure { throw ExitCode(failure) }
    if failOnConflict, conflicts > 0 { throw ExitCode(ExitStatus.conflicts) }
  }

  private func apply(_ source: SyncSource, _ file: String, to replica: Replica) async throws -> MergeReport {
    let console = options.console
    let bar = console.progress("importing")
    defer { bar.finish() }
    let report =
      rejoin
      ? try await replica.rejoin(from: source) { bar.update($0) }
      : try await replica.import(from: source) { bar.update($0) }
    bar.finish()
    if let state = report.applied.state {
      console.note(
        "the state was taken from a state file; \(Format.count(state.replayed, "own transaction")) made anew")
    }
    if report.attention.fenced.contains(replica.identity.replica) {
      console.note("what is missing is forgotten there; ask for: godwit export --state FILE")
    }
    let names = ReplicaNames(try await replica.members.list())
    try options.json
      ? console.line(.object(report.fields(file, names, on: replica))) : console.line(report.text(file, names))
    for warning in report.warnings(names) { console.note(warning) }
    return report
  }

  private func foretell(_ source: SyncSource, _ file: String, on replica: Replica) async throws -> MergeReport {
    let console = options.console
    let bar = console.progress("planning")
    defer { bar.finish() }
    let plan = try await replica.plan(importing: source, isRejoining: rejoin) { bar.update($0) }
    bar.finish()
    let view = ImportPlanView(file, plan, ReplicaNames(try await replica.members.list()), on: replica)
    try options.json ? console.line(view.json) : console.lines(view.lines)
    return plan.report
  }
}

extension MergeReport {
  /// `desk.sync from desk: 3 applied, 1 duplicate, 0 waiting, 2 conflicts; missing: laptop 5–9`.
  func text(_ file: String, _ names: ReplicaNames) -> String {
    let state = applied.state.map {
      [
        "the whole state (\(Format.count($0.rows, "row")))",
        "\(Format.count($0.replayed, "own transaction")) made anew",
      ]
    }
    let (losses, dropped) = (attention.losses, attention.dropped)
    let counts =
      (state ?? []) + [
        "\(applied.transactions) applied (\(Format.count(applied.rows, "row")))",
        Format.count(applied.duplicates, "duplicate"), "\(waiting.transactions) waiting",
        Format.count(attention.conflicts, "conflict"),
      ] + (attention.prunedConflicts > 0 ? ["\(attention.prunedConflicts) earlier ones dropped"] : [])
      + (waiting.held.map { ["\($0.transactions) of those for \($0.title)"] } ?? [])
      + (losses > 0 ? ["\(Format.count(losses, "value")) not kept exactly (see: godwit migrate --status)"] : [])
    let head = "\(file) from \(names.name(sender)): \(counts.joined(separator: ", "))"
    let parts = [
      ("missing", waiting.missing.map { $0.text(names) }),
      ("forked", attention.forks.map { "\(names.name($0.replica)) from \($0.sequence) on" }),
      ("left out", attention.leftOut.map { $0.text(names) }), ("dropped", dropped.map { $0.text(names) }),
      ("members", applied.members.map { $0.text(names) }),
    ]
    let tail = parts.filter { !$0.1.isEmpty }.map { "; \($0.0): \($0.1.joined(separator: ", "))" }
    return Format.printable(head + tail.joined())
  }
}

extension MergeReport {
  /// The rest was applied, but somebody has changed or invented what was not.
  fileprivate func unsigned(_ names: ReplicaNames) -> GodwitError? {
    let unsigned = attention.leftOut.filter { $0.reason == .unsigned }
    guard !unsigned.isEmpty else { return nil }
    let who = unsigned.map { $0.text(names) }.joined(separator: ", ")
    let sender = Format.printable(names.name(sender))
    return GodwitError(
      .invalidSignature, "not signed by who is said to have written it, and left out: \(Format.printable(who))",
      hint: "\(sender), or who gave it to \(sender), changed or invented it; ask its author for a file")
  }

  /// The rest was applied, but somebody has to do something about what was not.
  fileprivate func fenced(_ names: ReplicaNames) -> GodwitError? {
    let fenced = attention.leftOut.filter { $0.reason == .fenced }
    guard !fenced.isEmpty else { return nil }
    let who = fenced.map { $0.text(names) }.joined(separator: ", ")
    return GodwitError(
      .fenced, "written without having seen what has been forgotten here, and left out: \(Format.printable(who))",
      hint:
        "where they come from, import a state file of this replica's: godwit export --state FILE, godwit import --rejoin FILE"
    )
  }
}
