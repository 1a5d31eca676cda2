import Godwit
import ToolSupport

/// What `godwit sync --watch` says: the news of each sync.
struct SyncWatch: Sendable {
  private let console: Console
  private let news = SyncNews()

  init(_ console: Console) { self.console = console }

  func show(_ report: Replica.SyncReport, _ replica: Replica) async throws {
    let names = ReplicaNames(try await replica.members.list())
    for remote in news.items(of: report).map(\.remote) {
      let view = SyncView([remote], names)
      try console.lines(console.usesJSON ? [remote.json(names).text] : view.lines)
      for warning in view.warnings { console.note(warning) }
      if let error = remote.error {
        remote.problem(error).write(program: GodwitCommand.configuration.commandName ?? "")
      }
    }
  }
}

extension Replica.SyncReport.Remote {
  /// An error of the remote's, with its name.
  func problem(_ error: GodwitError) -> ErrorReport {
    ErrorReport(GodwitError(error.code, "\(name): \(error.message)", hint: error.hint))
  }
}
