import Godwit

/// Keeps replicas in sync until its task is cancelled (Specs/agent.md, "The agent"). It may run again after that.
package struct Agent: Sendable {
  /// A replica to keep.
  package struct Place: Sendable {
    package let folder: String
    package let open: @Sendable () async throws -> Replica

    package init(folder: String, open: @escaping @Sendable () async throws -> Replica) {
      self.folder = folder
      self.open = open
    }
  }

  /// How all of them are synced, as `Replica.keepInSync` has it.
  package struct Rhythm: Sendable {
    package let interval: Duration
    package let isCollecting: Bool
    package let maximumBytesPerSecond: Int?

    package init(interval: Duration = .seconds(60), isCollecting: Bool = false, maximumBytesPerSecond: Int? = nil) {
      self.interval = interval
      self.isCollecting = isCollecting
      self.maximumBytesPerSecond = maximumBytesPerSecond
    }
  }

  /// How many replicas are opened at a time, not counting those that take longer than the grace.
  private static let width = 4

  package let board: AgentBoard
  private let keepers: [ReplicaKeeper]
  private let grace: Duration

  /// - Parameter grace: How long a replica that does not open, as where a command for its key hangs, keeps the others
  ///   from being ready, and from being opened where four of them hang.
  package init(_ places: [Place], _ rhythm: Rhythm, _ journal: Journal, grace: Duration = .seconds(30)) {
    let board = AgentBoard(places.map(\.folder))
    self.board = board
    self.grace = grace
    let turns = Turns(Self.width, limit: grace)
    keepers = places.enumerated().map { ReplicaKeeper($0, $1, rhythm, board, journal, turns) }
  }

  /// Opens all replicas, and keeps them in sync.
  ///
  /// - Parameter whenOpened: Called once each was tried, or half a minute is over, and one of them is open.
  /// - Throws: `CancellationError` when the task is cancelled, and all are closed by then; the first replica's error
  ///   when none can be opened.
  package func run(whenOpened: @escaping @Sendable () -> Void) async throws {
    let (tries, tried) = AsyncStream.makeStream(of: Int?.self)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (index, keeper) in keepers.enumerated() {
        group.addTask { try await keeper.run { tried.yield(index) } }
      }
      group.addTask {
        try await Task.sleep(for: grace)
        tried.yield(nil)
      }
      group.addTask {
        // Later tries are nobody's news, and would be kept for as long as this runs.
        defer { tried.finish() }
        try await untilReady(tries)
        board.noteReady()
        whenOpened()
      }
      while try await group.next() != nil {}
    }
  }

  /// Returns once each replica was tried, or the grace is over, and one is open.
  ///
  /// - Parameter tries: Which replica was tried; nil once the grace is over.
  /// - Throws: The first replica's error when each was tried and none is open; `CancellationError`.
  private func untilReady(_ tries: AsyncStream<Int?>) async throws {
    var waiting = Set(keepers.indices)
    var isLate = false
    for await index in tries {
      if let index { waiting.remove(index) } else { isLate = true }
      let entries = board.entries
      if entries.contains(where: { $0.replica != nil }) {
        if isLate || waiting.isEmpty { return }
      } else if waiting.isEmpty, let failure = entries.lazy.compactMap(\.failure).first {
        throw failure.error
      }
    }
    try Task.checkCancellation()
  }

  /// Closes every replica that is open and opens all again, each by itself.
  package func reload() { for keeper in keepers { keeper.reload() } }
}
