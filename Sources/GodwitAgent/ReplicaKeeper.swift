import Godwit
import GodwitReports
import Synchronization

/// Keeps one replica of an agent's open and in sync, and opens it again when that has failed.
final class ReplicaKeeper: Sendable {
  private let index: Int
  private let place: Agent.Place
  private let rhythm: Agent.Rhythm
  private let board: AgentBoard
  private let journal: Journal
  private let turns: Turns
  private let news = SyncNews()
  /// What is under way: the replica open and in sync, or the pause after that has failed.
  private let attempt = Mutex<Task<RetryPause, Never>?>(nil)

  init(
    _ index: Int, _ place: Agent.Place, _ rhythm: Agent.Rhythm, _ board: AgentBoard, _ journal: Journal, _ turns: Turns
  ) {
    self.index = index
    self.place = place
    self.rhythm = rhythm
    self.board = board
    self.journal = journal
    self.turns = turns
  }

  /// Closes the replica, if it is open, and opens it again at once.
  func reload() { attempt.withLock { $0?.cancel() } }

  /// Until the task is cancelled; the replica is closed by then.
  ///
  /// - Parameter whenTried: Called each time that it was tried to open the replica.
  /// - Throws: `CancellationError`.
  func run(whenTried: @escaping @Sendable () -> Void) async throws {
    var pause = RetryPause()
    while true {
      let task = Task { [pause] in
        var pause = pause
        let start = ContinuousClock.now
        let replica = await open()
        // A reload that comes meanwhile has it tried anew.
        if replica != nil || !Task.isCancelled { whenTried() }
        if let replica { await keep(replica) }
        pause.attemptEnded(lasted: .now - start)
        try? await Task.sleep(for: pause.scattered)
        return pause
      }
      attempt.withLock { $0 = task }
      let taken = await withTaskCancellationHandler {
        await task.value
      } onCancel: {
        task.cancel()
      }
      try Task.checkCancellation()
      // Who is asked to begin anew does.
      pause = task.isCancelled ? RetryPause() : taken
    }
  }

  /// Opens the replica; nil when it cannot be opened, which is on the board then, or when the task is cancelled.
  private func open() async -> Replica? {
    do {
      let replica = try await turns.take { try await place.open() }
      board.opened(index, replica)
      note(.info, .opened, "open")
      return replica
    } catch {
      fail(error)
      return nil
    }
  }

  /// Returns when that fails, and closes the replica in any case.
  private func keep(_ replica: Replica) async {
    do {
      try await replica.closing { replica in
        try await replica.keepInSync(
          every: rhythm.interval, isCollecting: rhythm.isCollecting, maximumBytesPerSecond: rhythm.maximumBytesPerSecond
        ) { try await take($0, of: replica) }
      }
    } catch {
      board.closed(index)
      fail(error)
    }
  }

  private func take(_ report: Replica.SyncReport, of replica: Replica) async throws {
    board.took(report, index, of: try await replica.remotes.list().map(\.name))
    let items = news.items(of: report)
    guard !items.isEmpty else { return }
    let names = ReplicaNames(try await replica.members.list())
    for item in items { note(item, names) }
  }

  private func note(_ item: SyncNews.Item, _ names: ReplicaNames) {
    let remote = item.remote
    let place = [("remote", remote.name)]
    if let error = remote.error {
      note(.warning, .failed, error.message, hint: error.hint, place + [("code", error.code.rawValue)])
    }
    let view = SyncView([remote], names)
    for line in view.lines { note(.info, item.isRecovered ? .recovered : .synced, line, place) }
    for warning in view.warnings { note(.warning, .synced, warning, place) }
  }

  private func fail(_ error: any Error) {
    var error = error
    if error is CancellationError {
      guard !Task.isCancelled else { return }
      // Somebody has left a question for a secret.
      error = GodwitError(.noKeyFits, "no secret was given for the keyring", hint: "start the agent again, and give it")
    }
    guard let failure = board.failed(index, error) else { return }
    note(.error, .failed, failure.message, hint: failure.hint, [("code", failure.code)])
  }

  private func note(
    _ priority: Journal.Priority, _ event: Journal.Event, _ message: String, hint: String? = nil,
    _ fields: [(String, String)] = []
  ) {
    journal.note(priority, event, message, hint: hint, [("replica", place.folder)] + fields)
  }
}
