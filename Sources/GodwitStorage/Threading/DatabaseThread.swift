import Foundation
import GodwitBase

/// A thread that owns one connection and runs jobs on it in the order they came.
///
/// Unchecked Sendable: what may change is touched only under `condition`; the connection is made, used and released on
/// the thread alone.
package final class DatabaseThread: @unchecked Sendable {
  private struct Job {
    let id: UInt64
    let run: (Result<Connection, any Error>) -> Void
  }

  private let condition = NSCondition()
  private var jobs: [Job] = []
  private var nextID: UInt64 = 0
  private var current: UInt64?
  private var isStarted = false
  /// Whether nothing is taken on any more.
  private var isClosed = false
  /// Whether there is no thread any more, and never will be.
  private var isEnded = false
  private var closers: [CheckedContinuation<Void, Never>] = []
  private let name: String
  private let cancellation = CancellationFlag()
  private let idleSeconds: TimeInterval?
  private let closing: NSLock
  /// Nil when the thread has ended: it may hold keys, and a thread or a task may hold this longer than its user does.
  private var makeConnection: (@Sendable (CancellationFlag) throws -> Connection)?

  /// The thread starts, and the connection opens, with the first job; after a failure to open, the next job tries
  /// again.
  ///
  /// - Parameters:
  ///   - idleSeconds: After how long without a job the connection closes; the next job opens it again.
  ///   - closing: Held while the connection closes. Threads over one database share it: connections that close at once
  ///     would each take the others for ones that stay, and none would move the log into the database.
  package init(
    name: String, idleSeconds: TimeInterval? = nil, closing: NSLock = NSLock(),
    _ makeConnection: @escaping @Sendable (CancellationFlag) throws -> Connection
  ) {
    self.name = name
    self.idleSeconds = idleSeconds
    self.closing = closing
    self.makeConnection = makeConnection
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

  /// Starts the thread and opens the connection, if that is yet to be done. A failure shows at the first job.
  func warmUp() { post { _ in } }

  /// Runs the body on the thread some time later; it hears of a failure to open, and of `closed`.
  func post(_ body: @escaping @Sendable (Result<Connection, any Error>) -> Void) { enqueue(0, body) }

  /// Throws `closed` at later jobs. Those that wait still run.
  ///
  /// - Parameter last: A job that comes after all of them, if the thread has ever run one and is not closed already.
  func refuse(after last: (@Sendable (Connection) -> Void)? = nil) {
    condition.lock()
    defer { condition.unlock() }
    guard !isClosed else { return }
    isClosed = true
    if let last, isStarted {
      jobs.append(Job(id: 0) { connection in if let connection = try? connection.get() { last(connection) } })
    }
    condition.signal()
  }

  /// Lets the waiting jobs finish, closes the connection and ends the thread; what makes connections is let go of.
  /// Returns when the thread has ended (``JoinedThread``). Later jobs throw `closed`.
  package func close() async {
    refuse()
    await withCheckedContinuation { continuation in
      let isOver = condition.withLock {
        if !isStarted {
          isEnded = true
          makeConnection = nil
        }
        if !isEnded { closers.append(continuation) }
        return isEnded
      }
      if isOver { continuation.resume() }
    }
  }

  private func enqueue(_ id: UInt64, _ run: @escaping (Result<Connection, any Error>) -> Void) {
    condition.lock()
    if isClosed {
      condition.unlock()
      return run(.failure(Self.closed))
    }
    if Task.isCancelled {
      condition.unlock()
      return run(.failure(CancellationError()))
    }
    do {
      try startIfNeeded()
    } catch {
      condition.unlock()
      return run(.failure(error))
    }
    jobs.append(Job(id: id, run: run))
    condition.signal()
    condition.unlock()
  }

  private func startIfNeeded() throws(GodwitError) {
    guard !isStarted else { return }
    try JoinedThread.start(name, loop, whenEnded: tellClosers)
    isStarted = true
  }

  private func tellClosers() {
    let waiting = condition.withLock {
      defer { closers = [] }
      isEnded = true
      return closers
    }
    for closer in waiting { closer.resume() }
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
    while true {
      let step = next(closesWhenIdle: connection != nil)
      if case .idle = step {
        close(&connection)
        continue
      }
      guard case .run(let job) = step else { break }
      if connection?.hasMoved ?? false { close(&connection) }
      let result = Result {
        if let connection {
          try connection.requireName()
          connection.startJob()
          return connection
        }
        let opened = try open()
        connection = opened
        return opened
      }
      job.run(result)
    }
    close(&connection)
    condition.withLock { makeConnection = nil }
  }

  private func close(_ connection: inout Connection?) {
    connection?.detach()
    closing.withLock { connection = nil }
  }

  private func open() throws -> Connection {
    guard let makeConnection = condition.withLock({ makeConnection }) else { throw Self.closed }
    return try makeConnection(cancellation)
  }

  private static var closed: GodwitError { GodwitError(.closed, "the replica is closed") }

  private enum Step {
    case run(Job)
    /// There has been nothing to do for long.
    case idle
    case end
  }

  private func next(closesWhenIdle: Bool) -> Step {
    condition.lock()
    defer { condition.unlock() }
    current = nil
    let limit = closesWhenIdle ? idleSeconds.map { Date(timeIntervalSinceNow: $0) } : nil
    while jobs.isEmpty && !isClosed {
      guard let limit else {
        condition.wait()
        continue
      }
      let isLate = !condition.wait(until: limit)
      if isLate, jobs.isEmpty, !isClosed { return .idle }
    }
    guard !jobs.isEmpty else { return .end }
    let job = jobs.removeFirst()
    current = job.id
    cancellation.clear()
    return .run(job)
  }
}
