import Godwit
import Synchronization
import ToolSupport

/// What `godwit sync --watch` says: what was new at a remote, and when one begins to fail, fails with something else,
/// or is well again.
final class SyncWatch: Sendable {
  private let console: Console
  /// The last error of each remote that fails.
  private let failures = Mutex<[String: GodwitError.Code]>([:])

  init(_ console: Console) { self.console = console }

  func show(_ report: Replica.SyncReport, _ replica: Replica) async throws {
    let names = ReplicaNames(try await replica.members.list())
    for remote in report.remotes {
      let former = failures.withLock { failures in
        defer { failures[remote.name] = remote.error?.code }
        return failures[remote.name]
      }
      let isNews = remote.hasNews || former != remote.error?.code
      guard isNews else { continue }
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

  /// Whether anything moved or was found.
  fileprivate var hasNews: Bool {
    !taken.isEmpty || !refused.isEmpty || published != nil || publishedState != nil || publishedLog != nil
      || !findings.isEmpty
  }
}
