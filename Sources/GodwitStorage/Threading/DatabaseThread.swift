import Foundation
import GodwitBase

/// A thread that owns one connection and runs jobs on it in the order they came.
///
/// Unchecked Sendable: `jobs`, `current` and `isClosed` are touched only under `condition`; the connection is
/// made, used and released on the thread alone.
package final class DatabaseThread: @unchecked Sendable {
  private struct Job {
    let id: UInt64
    let run: (Result<Connection, any Error>) -> Void
  }

  private let condition = NSCondition()
  private var jobs: [Job] = []
  private var nextID: UInt64 = 0
  private var current: UInt64?
  private var isClosed = false
  private let cancellation = CancellationFlag()
  private let makeConnection: @Sendable (CancellationFlag) throws -> Connection

  /// Starts the thread. The connection is opened by the first job and again after a failure to open.
  package init(name: String, _ makeConnection: @escaping @Sendable (CancellationFlag) throws -> Connection) {
    self.makeConnection = makeConnection
    let thread = Thread { self.loop() }
    thread.name = name
    thread.stackSize = 8 << 20
    thread.start()
  }

  /// Runs the body on the thread. Cancelling the task interrupts the running statement and throws CancellationError.
  package func run<Output: Sendable>(
    _ body: @escaping @Sendable (Connection) throws -> Output
  ) async throws -> Output {
    let id = condition.withLock {
      nextID += 1
      return nextID
    }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        enqueue(id) { connection in
          continuation.resume(with: Result { try body(connection.get()) })
        }
      }
    } onCancel: {
      cancel(id)
    }
  }

  /// Finishes the waiting jobs, closes the connection and ends the thread. Later jobs throw `closed`.
  package func close() async {
    _ = try? await run { _ in }
    condition.withLock {
      isClosed = true
      condition.signal()
    }
  }

  private func enqueue(_ id: UInt64, _ run: @escaping (Result<Connection, any Error>) -> Void) {
    condition.lock()
    if isClosed {
      condition.unlock()
      return run(.failure(GodwitError(.closed, "the replica is closed")))
    }
    if Task.isCancelled {
      condition.unlock()
      return run(.failure(CancellationError()))
    }
    jobs.append(Job(id: id, run: run))
    condition.signal()
    condition.unlock()
  }

  private func cancel(_ id: UInt64) {
    condition.lock()
    let index = jobs.firstIndex { $0.id == id }
    let waiting = index.map { jobs.remove(at: $0) }
    if current == id { cancellation.cancel() }
    condition.unlock()
    waiting?.run(.failure(CancellationError()))
  }

  private func loop() {
    var connection: Connection?
    while let job = next() {
      let result = Result {
        if let connection { return connection }
        let opened = try makeConnection(cancellation)
        connection = opened
        return opened
      }
      job.run(result)
    }
  }

  private func next() -> Job? {
    condition.lock()
    defer { condition.unlock() }
    current = nil
    while jobs.isEmpty && !isClosed { condition.wait() }
    guard !jobs.isEmpty else { return nil }
    let job = jobs.removeFirst()
    current = job.id
    cancellation.clear()
    return job
  }
}
