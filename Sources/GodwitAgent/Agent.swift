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

  /// How many replicas are opened at a time.
  private static let width = 4

  package let board: AgentBoard
  private let keepers: [ReplicaKeeper]

  package init(_ places: [Place], _ rhythm: Rhythm, _ journal: Journal) {
    let board = AgentBoard(places.map(\.folder))
    self.board = board
    keepers = places.enumerated().map { ReplicaKeeper($0, $1, rhythm, board, journal) }
  }

  /// Opens all replicas, and keeps them in sync.
  ///
  /// - Parameters:
  ///   - mayAllFail: Whether to try again and again where none of them can be opened.
  ///   - whenOpened: Called once each was tried.
  /// - Throws: `CancellationError` when the task is cancelled, and all are closed by then; the first replica's error
  ///   when none can be opened.
  package func run(mayAllFail: Bool, whenOpened: @Sendable () async throws -> Void) async throws {
    let opened = try await openAll()
    if !mayAllFail, opened.allSatisfy({ $0 == nil }), let failure = board.entries.lazy.compactMap(\.failure).first {
      throw failure.error
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (keeper, replica) in zip(keepers, opened) { group.addTask { try await keeper.run(with: replica) } }
      do {
        try await whenOpened()
      } catch {
        // The keepers close what is open.
        group.cancelAll()
        throw error
      }
      try await group.waitForAll()
    }
  }

  /// Those that can be opened, in order. What was opened before this was cancelled is closed again.
  private func openAll() async throws -> [Replica?] {
    var opened = [Replica?](repeating: nil, count: keepers.count)
    await withTaskGroup(of: (Int, Replica?).self) { group in
      for (index, keeper) in keepers.enumerated() {
        if index >= Self.width, let (done, replica) = await group.next() { opened[done] = replica }
        group.addTask { (index, await keeper.open()) }
      }
      for await (done, replica) in group { opened[done] = replica }
    }
    guard !Task.isCancelled else {
      for replica in opened { await replica?.close() }
      throw CancellationError()
    }
    return opened
  }
}
