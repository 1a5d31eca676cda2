import Synchronization

/// Runs blocking work on a thread of its own, so that Swift's cooperative threads never wait. The thread is over when
/// the work's result is there (``JoinedThread``).
package enum BlockingThread {
  package static func run<Output: Sendable>(_ body: @escaping @Sendable () throws -> Output) async throws -> Output {
    try await withCheckedThrowingContinuation { continuation in
      let result = Mutex<Result<Output, any Error>?>(nil)
      do {
        try JoinedThread.start("godwit-blocking") {
          let output = Result { try body() }
          result.withLock { $0 = output }
        } whenEnded: {
          if let output = result.withLock({ $0.take() }) { continuation.resume(with: output) }
        }
      } catch {
        continuation.resume(throwing: error)
      }
    }
  }
}
