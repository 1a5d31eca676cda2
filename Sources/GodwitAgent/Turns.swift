/// Lets so many do something at a time; the others wait in order. One that takes longer than a limit, because it hangs,
/// keeps running without its turn, which the next one has.
actor Turns {
  private let limit: Duration
  private var free: Int
  private var waiting: [CheckedContinuation<Void, Never>] = []
  /// The turns that are taken.
  private var taken: Set<Int> = []
  private var count = 0

  init(_ free: Int, limit: Duration) { (self.free, self.limit) = (free, limit) }

  /// Runs the body once there is a turn.
  ///
  /// - Throws: What the body throws; `CancellationError` when the task was cancelled by then.
  nonisolated func take<Output: Sendable>(_ body: @Sendable () async throws -> Output) async throws -> Output {
    let turn = await begin()
    let timer = Task { [limit] in
      try await Task.sleep(for: limit)
      await end(turn)
    }
    defer { timer.cancel() }
    do {
      try Task.checkCancellation()
      let output = try await body()
      await end(turn)
      return output
    } catch {
      await end(turn)
      throw error
    }
  }

  private func begin() async -> Int {
    if free > 0 { free -= 1 } else { await withCheckedContinuation { waiting.append($0) } }
    count += 1
    taken.insert(count)
    return count
  }

  private func end(_ turn: Int) {
    guard taken.remove(turn) != nil else { return }
    if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
  }
}
