import Foundation
import Synchronization

/// Computations under way, by key: everybody in this process who wants a key waits for the same one, unless the key has
/// been invalidated since that began.
final class CacheFlights: Sendable {
  /// What one computation is for.
  struct Goal: Hashable, Sendable {
    let key: String
    /// The number of the last invalidation that concerned the key.
    let invalidation: Int64
  }

  private struct Flight {
    let number: Int
    let task: Task<Void, Never>
    var waiters: [Int: CheckedContinuation<Data, any Error>] = [:]
  }

  private struct State {
    var flights: [Goal: Flight] = [:]
    var nextNumber = 0
  }

  private let state = Mutex(State())

  /// The value that the computation gives, begun now unless it is under way. A caller that is cancelled leaves; with
  /// the last of them the computation is cancelled.
  func value(for goal: Goal, _ compute: @escaping @Sendable () async throws -> Data) async throws -> Data {
    let waiter = state.withLock { state in
      state.nextNumber += 1
      return state.nextNumber
    }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in join(goal, waiter, continuation, compute) }
    } onCancel: {
      leave(goal, waiter)
    }
  }

  private func join(
    _ goal: Goal, _ waiter: Int, _ continuation: CheckedContinuation<Data, any Error>,
    _ compute: @escaping @Sendable () async throws -> Data
  ) {
    state.withLock { state in
      if state.flights[goal] == nil {
        state.nextNumber += 1
        let number = state.nextNumber
        let task = Task {
          let result: Result<Data, any Error>
          do { result = .success(try await compute()) } catch { result = .failure(error) }
          self.finish(goal, number, result)
        }
        state.flights[goal] = Flight(number: number, task: task)
      }
      state.flights[goal]?.waiters[waiter] = continuation
    }
    // The handler may have run before there was anything to leave.
    if Task.isCancelled { leave(goal, waiter) }
  }

  private func leave(_ goal: Goal, _ waiter: Int) {
    let left = state.withLock { state -> CheckedContinuation<Data, any Error>? in
      guard let continuation = state.flights[goal]?.waiters.removeValue(forKey: waiter) else { return nil }
      if let flight = state.flights[goal], flight.waiters.isEmpty {
        flight.task.cancel()
        state.flights[goal] = nil
      }
      return continuation
    }
    left?.resume(throwing: CancellationError())
  }

  private func finish(_ goal: Goal, _ number: Int, _ result: Result<Data, any Error>) {
    let waiters = state.withLock { state -> [CheckedContinuation<Data, any Error>] in
      guard let flight = state.flights[goal], flight.number == number else { return [] }
      state.flights[goal] = nil
      return Array(flight.waiters.values)
    }
    for waiter in waiters { waiter.resume(with: result) }
  }
}
