import Foundation
import Synchronization

/// Runs blocking work on a thread of its own, so that Swift's cooperative threads never wait.
package enum BlockingThread {
  package static func run<Output: Sendable>(_ body: @escaping @Sendable () throws -> Output) async throws -> Output {
    try await withCheckedThrowingContinuation { continuation in
      let body = Mutex(Optional(body))
      let thread = Thread {
        // The thread may last longer than its caller waits, and what the body holds, keys for one, must not.
        guard let result = body.withLock({ $0.take() }).map({ body in Result { try body() } }) else { return }
        continuation.resume(with: result)
      }
      thread.name = "godwit-blocking"
      thread.start()
    }
  }
}
