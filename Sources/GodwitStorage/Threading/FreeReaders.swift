import GodwitBase
import Synchronization

/// Which of a pool's readers are free. Who finds none waits, and gets the first that is given back.
final class FreeReaders: Sendable {
  private struct State {
    var isFree: [Bool]
    var waiting: [(id: UInt64, reader: CheckedContinuation<Int, any Error>)] = []
    var nextID: UInt64 = 0
    var isClosed = false
    /// Who waits until all are given back.
    var closers: [CheckedContinuation<Void, Never>] = []

    var areAllFree: Bool { isFree.allSatisfy(\.self) }
  }

  private let state: Mutex<State>

  init(count: Int) { state = Mutex(State(isFree: Array(repeating: true, count: count))) }

  /// The number of one, the lowest that is free, for who gives it back.
  ///
  /// Throws `closed`; `CancellationError` when the task is cancelled while it waits.
  func take() async throws -> Int {
    let (free, id) = try state.withLock { state -> (Int?, UInt64) in
      guard !state.isClosed else { throw GodwitError(.closed, "the replica is closed") }
      state.nextID += 1
      let free = state.isFree.firstIndex(of: true)
      if let free { state.isFree[free] = false }
      return (free, state.nextID)
    }
    if let free { return free }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { wait(id, $0) }
    } onCancel: {
      cancel(id)
    }
  }

  /// One may have been given back since it was looked for, or the task been cancelled.
  private func wait(_ id: UInt64, _ reader: CheckedContinuation<Int, any Error>) {
    let result = state.withLock { state -> Result<Int, any Error>? in
      if Task.isCancelled { return .failure(CancellationError()) }
      guard let free = state.isFree.firstIndex(of: true) else {
        state.waiting.append((id, reader))
        return nil
      }
      state.isFree[free] = false
      return .success(free)
    }
    if let result { reader.resume(with: result) }
  }

  private func cancel(_ id: UInt64) {
    let waiting = state.withLock { state in
      state.waiting.firstIndex { $0.id == id }.map { state.waiting.remove(at: $0).reader }
    }
    waiting?.resume(throwing: CancellationError())
  }

  func giveBack(_ number: Int) {
    let (next, closers) = state.withLock {
      state -> (CheckedContinuation<Int, any Error>?, [CheckedContinuation<Void, Never>]) in
      if !state.waiting.isEmpty { return (state.waiting.removeFirst().reader, []) }
      state.isFree[number] = true
      guard state.areAllFree else { return (nil, []) }
      defer { state.closers = [] }
      return (nil, state.closers)
    }
    next?.resume(returning: number)
    for closer in closers { closer.resume() }
  }

  /// Throws `closed` at who comes from now on. Those that wait still get theirs.
  func refuse() { state.withLock { $0.isClosed = true } }

  /// Returns once all are given back and nobody waits; wants ``refuse()`` before.
  func areGivenBack() async {
    await withCheckedContinuation { closer in
      let isOver = state.withLock { state in
        if !state.areAllFree { state.closers.append(closer) }
        return state.areAllFree
      }
      if isOver { closer.resume() }
    }
  }
}
