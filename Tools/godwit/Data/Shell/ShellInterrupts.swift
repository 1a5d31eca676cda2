import Foundation
import Synchronization
import ToolSupport

/// What Ctrl-C ends at the terminal: the statement that runs, or else what has been typed of one.
final class ShellInterrupts: Sendable {
  private struct State {
    var cancel: (@Sendable () -> Void)?
    var isDropping = false
  }

  private let state = Mutex(State())

  /// Called for each Ctrl-C. The terminal itself has dropped the line that was being typed.
  func interrupt() {
    let cancel = state.withLock { state in
      if state.cancel == nil { state.isDropping = true }
      return state.cancel
    }
    guard let cancel else {
      return ShellInput.prompt(isInside: false, onNewLine: true)
    }
    cancel()
  }

  /// Whether the lines before the one that has just been typed are dropped. Once.
  func takeDropping() -> Bool {
    state.withLock { state in
      defer { state.isDropping = false }
      return state.isDropping
    }
  }

  /// Runs the body as what Ctrl-C ends.
  ///
  /// - Throws: What the body throws; `CancellationError`.
  func running<Output: Sendable>(_ body: @escaping @Sendable () async throws -> Output) async throws -> Output {
    let task = Task { try await body() }
    state.withLock { $0.cancel = { task.cancel() } }
    defer { state.withLock { $0.cancel = nil } }
    return try await withTaskCancellationHandler {
      try await task.value
    } onCancel: {
      task.cancel()
    }
  }
}
