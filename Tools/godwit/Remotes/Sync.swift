import ArgumentParser
import Godwit
import ToolSupport

struct Sync: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Fetch what others have published at remotes, and publish what they may lack.",
    discussion: """
      Both ways, with all remotes or those that are named. What fails at one does not keep it from the next. A sync \
      that is broken off is continued by the next one.

      Examples:
        godwit sync
        godwit sync home
        godwit sync --limit-rate 500k
        godwit sync --rejoin     (when this replica has been away for too long)
        godwit sync --collect    (on one machine of a large group, again and again)
      """)

  @Argument(help: "The remotes. (default: all)")
  var names: [String] = []

  @Flag(help: "Let a state file replace this replica's state when it lacks what all others have forgotten.")
  var rejoin = false

  @Flag(
    help: """
      Keep a log at the remotes, from which the others fetch what they lack with one request, in place of every \
      member's file. It costs this machine what the others save.
      """)
  var collect = false

  @OptionGroup var rate: RateOption
  @OptionGroup var options: ReplicaOptions

  func run() async throws {
    let console = options.console
    let (report, members) = try await options.withReplica { replica in
      let bar = console.progress("syncing")
      defer { bar.finish() }
      let meter = SyncMeter(bar)
      let report = try await replica.sync(
        with: names, isRejoining: rejoin, isCollecting: collect, maximumBytesPerSecond: rate.bytesPerSecond
      ) { meter.show($0) }
      return (report, try await replica.members.list())
    }
    try Self.show(report, ReplicaNames(members), on: options)
  }

  /// Exits with the status of the first remote that failed.
  static func show(_ report: Replica.SyncReport, _ names: ReplicaNames, on options: ReplicaOptions) throws {
    let console = options.console
    let view = SyncView(report, names)
    try console.lines(options.json ? report.json(names).map(\.text) : view.lines)
    for warning in view.warnings { console.note(warning) }
    var failure: Int32?
    for remote in report.remotes {
      guard let error = remote.error else { continue }
      let problem = ErrorReport(GodwitError(error.code, "\(remote.name): \(error.message)", hint: error.hint))
      problem.write(program: GodwitCommand.configuration.commandName ?? "")
      failure = failure ?? problem.status
    }
    if let failure { throw ExitCode(failure) }
  }
}
