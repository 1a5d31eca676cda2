import Godwit
import GodwitReports

/// Keeps one replica of an agent's open and in sync, and opens it again when that has failed.
struct ReplicaKeeper: Sendable {
  /// The pause after the first failure; it doubles with each.
  static let shortestPause = Duration.seconds(10)
  static let longestPause = Duration.seconds(900)

  let index: Int
  let place: Agent.Place
  let rhythm: Agent.Rhythm
  let board: AgentBoard
  let journal: Journal
  private let news = SyncNews()

  init(_ index: Int, _ place: Agent.Place, _ rhythm: Agent.Rhythm, _ board: AgentBoard, _ journal: Journal) {
    self.index = index
    self.place = place
    self.rhythm = rhythm
    self.board = board
    self.journal = journal
  }

  /// Opens the replica; nil when it cannot be opened, which is on the board then, or when the task is cancelled.
  func open() async -> Replica? {
    do {
      let replica = try await place.open()
      board.opened(index, replica)
      note(.info, .opened, "open")
      return replica
    } catch {
      try? fail(error)
      return nil
    }
  }

  /// Until the task is cancelled, beginning with what the first attempt to open it has brought.
  func run(with first: Replica?) async throws {
    var replica = first
    var pause = Self.shortestPause
    while true {
      if let replica {
        let start = ContinuousClock.now
        try await keep(replica)
        // One that had been well for long is not asked as rarely as one that never is.
        if .now - start > Self.longestPause { pause = Self.shortestPause }
      }
      try await Task.sleep(for: pause * Double.random(in: 0.8...1.2))
      pause = min(pause * 2, Self.longestPause)
      replica = await open()
    }
  }

  /// Returns when that fails, and closes the replica in any case.
  private func keep(_ replica: Replica) async throws {
    do {
      try await replica.closing { replica in
        try await replica.keepInSync(
          every: rhythm.interval, isCollecting: rhythm.isCollecting, maximumBytesPerSecond: rhythm.maximumBytesPerSecond
        ) { try await take($0, of: replica) }
      }
    } catch {
      board.closed(index)
      try fail(error)
    }
  }

  private func take(_ report: Replica.SyncReport, of replica: Replica) async throws {
    board.took(report, index)
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

  private func fail(_ error: any Error) throws {
    if error is CancellationError { throw error }
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
