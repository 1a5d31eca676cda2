import Foundation
import Synchronization

/// Computations under way, by key: everybody in this process who wants a key waits for the same one.
final class CacheFlights: Sendable {
  private struct Flight {
    let number: Int
    let task: Task<Void, Never>
    var waiters: [Int: CheckedContinuation<Data, any Error>] = [:]
  }

  private struct State {
    var flights: [String: Flight] = [:]
    var nextNumber = 0
  }

  private let state = Mutex(State())

  /// The value that the computation gives, begun now unless it is under way. A caller that is cancelled leaves; with
  /// the last of them the computation is cancelled.
  func value(for key: String, _ compute: @escaping @Sendable () async throws -> Data) async throws -> Data {
    let waiter = state.withLock { state in
      state.nextNumber += 1
      return state.nextNumber
    }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in join(key, waiter, continuation, compute) }
    } onCancel: {
      leave(key, waiter)
    }
  }

  private func join(
    _ key: String, _ waiter: Int, _ continuation: CheckedContinuation<Data, any Error>,
    _ compute: @escaping @Sendable () async throws -> Data
  ) {
    state.withLock { state in
      if state.flights[key] == nil {
        state.nextNumber += 1
        let number = state.nextNumber
        let task = Task {
          let result: Result<Data, any Error>
          do { result = .success(try await compute()) } catch { result = .failure(error) }
          self.finish(key, number, result)
        }
        state.flights[key] = Flight(number: number, task: task)
      }
      state.flights[key]?.waiters[waiter] = continuation
    }
    // The handler may have run before there was anything to leave.
    if Task.isCancelled { leave(key, waiter) }
  }

  private func leave(_ key: String, _ waiter: Int) {
    let left = state.withLock { state -> CheckedContinuation<Data, any Error>? in
      guard let continuation = state.flights[key]?.waiters.removeValue(forKey: waiter) else { return nil }
      if let flight = state.flights[key], flight.waiters.isEmpty {
        flight.task.cancel()
        state.flights[key] = nil
      }
      return continuation
    }
    left?.resume(throwing: CancellationError())
  }

  private func finish(_ key: String, _ number: Int, _ result: Result<Data, any Error>) {
    let waiters = state.withLock { state -> [CheckedContinuation<Data, any Error>] in
      guard let flight = state.flights[key], flight.number == number else { return [] }
      state.flights[key] = nil
      return Array(flight.waiters.values)
    }
    for waiter in waiters { waiter.resume(with: result) }
  }
}
