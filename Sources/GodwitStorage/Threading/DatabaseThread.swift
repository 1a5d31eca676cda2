import Foundation
import GodwitBase

/// A thread that owns one connection, within its session, and runs jobs on it in the order they came.
///
/// Unchecked Sendable: what may change is touched only under `condition`; the session is made, used and released on
/// the thread alone.
package final class DatabaseThread<Session: DatabaseSession>: @unchecked Sendable {
  private struct Job {
    let id: UInt64
    let run: (Result<Session, any Error>) -> Void
  }

  private let condition = NSCondition()
  private var jobs: [Job] = []
  private var nextID: UInt64 = 0
  private var current: UInt64?
  private var isStarted = false
  /// Whether nothing is taken on any more.
  private var isClosed = false
  /// Whether no thread is used any more, and none ever will be.
  private var isEnded = false
  private var closers: [CheckedContinuation<Void, Never>] = []
  private let name: String
  private let cancellation = CancellationFlag()
  private let idleSeconds: TimeInterval?
  private let closing: NSLock
  /// Nil when the thread has ended: it may hold keys, and a thread or a task may hold this longer than its user does.
  private var makeSession: (@Sendable (CancellationFlag) throws -> Session)?

  /// The thread starts, and the connection opens, with the first job; after a failure to open, the next job tries
  /// again.
  ///
  /// - Parameters:
  ///   - idleSeconds: After how long without a job the connection closes; the next job opens it again.
  ///   - closing: Held while the connection closes. Threads over one database share it: connections that close at once
  ///     would each take the others for ones that stay, and none would move the log into the database.
  package init(
    name: String, idleSeconds: TimeInterval? = nil, closing: NSLock = NSLock(),
    _ makeSession: @escaping @Sendable (CancellationFlag) throws -> Session
  ) {
    self.name = name
    self.idleSeconds = idleSeconds
    self.closing = closing
    self.makeSession = makeSession
  }

  /// Runs the body on the thread. Cancelling the task interrupts the running statement and throws CancellationError.
  package func run<Output: Sendable>(
    _ body: @escaping @Sendable (Session) throws -> Output
  ) async throws -> Output {
    let id = condition.withLock {
      nextID += 1
      return nextID
    }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        enqueue(id) { session in
          continuation.resume(with: Result { try body(session.get()) })
        }
      }
    } onCancel: {
      cancel(id)
    }
  }

  /// Starts the thread and opens the connection, unless it had a job before. A failure shows at the first job.
  func warmUp() {
    if condition.withLock({ !isStarted }) { post { _ in } }
  }

  /// Runs the body on the thread some time later; it gets a failure to open, and `closed`.
  func post(_ body: @escaping @Sendable (Result<Session, any Error>) -> Void) { enqueue(0, body) }

  /// Throws `closed` at later jobs. Those that wait still run.
  ///
  /// - Parameter last: A job that comes after all of them, if the thread has ever run one and is not closed already.
  func refuse(after last: (@Sendable (Session) -> Void)? = nil) {
    condition.lock()
    defer { condition.unlock() }
    guard !isClosed else { return }
    isClosed = true
    if let last, isStarted {
      jobs.append(Job(id: 0) { session in if let session = try? session.get() { last(session) } })
    }
    condition.signal()
  }

  /// Lets the waiting jobs finish, closes the connection and gives the thread back; what makes sessions is released.
  /// Returns when the thread is parked or has ended (``WorkerThread``). Later jobs throw `closed`.
  package func close() async {
    refuse()
    await withCheckedContinuation { continuation in
      let isOver = condition.withLock {
        if !isStarted {
          isEnded = true
          makeSession = nil
        }
        if !isEnded { closers.append(continuation) }
        return isEnded
      }
      if isOver { continuation.resume() }
    }
  }

  private func enqueue(_ id: UInt64, _ run: @escaping (Result<Session, any Error>) -> Void) {
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
    try WorkerThread.start(name, loop, whenDone: resumeClosers)
    isStarted = true
  }

  private func resumeClosers() {
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
    var session: Session?
    while true {
      let step = next(closesWhenIdle: session != nil)
      if case .idle = step {
        close(&session)
        continue
      }
      guard case .run(let job) = step else { break }
      if session?.connection.hasMoved ?? false { close(&session) }
      let result = Result {
        if let session {
          try session.connection.requireName()
          session.connection.startJob()
          return session
        }
        let opened = try open()
        session = opened
        return opened
      }
      job.run(result)
    }
    close(&session)
    condition.withLock { makeSession = nil }
  }

  private func close(_ session: inout Session?) {
    session?.willClose()
    session?.connection.detach()
    closing.withLock { session = nil }
  }

  private func open() throws -> Session {
    guard let makeSession = condition.withLock({ makeSession }) else { throw Self.closed }
    return try makeSession(cancellation)
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
    // A session that ends runs statements, also after a job that was cancelled.
    cancellation.clear()
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
    return .run(job)
  }
}
