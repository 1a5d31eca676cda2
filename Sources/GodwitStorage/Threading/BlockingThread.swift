import Synchronization

/// Runs blocking work on a thread of its own, so that Swift's cooperative threads never wait. The thread has released
/// what the work holds, and is parked or has ended, when the work's result is there (``WorkerThread``).
package enum BlockingThread {
  package static func run<Output: Sendable>(_ body: @escaping @Sendable () throws -> Output) async throws -> Output {
    try await withCheckedThrowingContinuation { continuation in
      let result = Mutex<Result<Output, any Error>?>(nil)
      do {
        try WorkerThread.start("godwit-blocking") {
          let output = Result { try body() }
          result.withLock { $0 = output }
        } whenDone: {
          if let output = result.withLock({ $0.take() }) { continuation.resume(with: output) }
        }
      } catch {
        continuation.resume(throwing: error)
      }
    }
  }
}
