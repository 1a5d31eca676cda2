import Foundation

/// Runs blocking work on a thread of its own, so that Swift's cooperative threads never wait.
package enum BlockingThread {
  package static func run<Output: Sendable>(_ body: @escaping @Sendable () throws -> Output) async throws -> Output {
    try await withCheckedThrowingContinuation { continuation in
      let thread = Thread { continuation.resume(with: Result { try body() }) }
      thread.name = "godwit-blocking"
      thread.start()
    }
  }
}
