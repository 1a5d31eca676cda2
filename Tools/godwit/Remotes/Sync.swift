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
        godwit sync --watch      (until Ctrl-C: soon after each change here, and once a minute)
      """)

  @Argument(help: "The remotes. (default: all)")
  var names: [String] = []

  @Flag(help: "Let a state file replace this replica's state when it lacks what all others have forgotten.")
  var rejoin = false

  @Flag(
    help: """
      Keep a log at the remotes, from which the others fetch what they lack with one request, in place of every \
      member's file. It costs this machine what the others save. Do so again and again: until 45 minutes after the \
      log's last file, the others fetch from the log alone, and a sync without --collect continues it, too.
      """)
  var collect = false

  @Flag(help: "Stay, and sync again soon after each change here and in every interval, until Ctrl-C.")
  var watch = false

  @Option(help: ArgumentHelp("With --watch: the interval, from 1 to 86400. (default: 60)", valueName: "seconds"))
  var every: Int?

  @OptionGroup var rate: RateOption
  @OptionGroup var options: ReplicaOptions

  func validate() throws {
    guard watch || every == nil else { throw ValidationError("--every goes with --watch") }
    guard (1...86_400).contains(every ?? 60) else { throw ValidationError("--every is from 1 to 86400") }
    guard !watch || !rejoin else { throw ValidationError("--watch and --rejoin do not go together; rejoin once first") }
  }

  func run() async throws {
    if watch { return try await stay() }
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

  /// Until the task is cancelled, which is what ends it.
  private func stay() async throws {
    let view = SyncWatch(options.console)
    try await options.withReplica { replica in
      // The library waits for the first one to be added; who types this has forgotten it.
      guard try await !replica.remotes.list().isEmpty else { throw GodwitError.noRemotes }
      do {
        try await replica.keepInSync(
          with: names, every: .seconds(every ?? 60), isCollecting: collect, maximumBytesPerSecond: rate.bytesPerSecond
        ) { try await view.show($0, replica) }
      } catch is CancellationError {}
    }
  }

  /// Exits with the status of the first remote that failed.
  static func show(_ report: Replica.SyncReport, _ names: ReplicaNames, on options: ReplicaOptions) throws {
    let console = options.console
    let view = SyncView(report.remotes, names)
    try console.lines(options.json ? report.json(names).map(\.text) : view.lines)
    for warning in view.warnings { console.note(warning) }
    var failure: Int32?
    for remote in report.remotes {
      guard let error = remote.error else { continue }
      let problem = remote.problem(error)
      problem.write(program: GodwitCommand.configuration.commandName ?? "")
      failure = failure ?? problem.status
    }
    if let failure { throw ExitCode(failure) }
  }
}
