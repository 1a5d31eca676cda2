import Synchronization

/// Counts what a transfer has moved, and ends it when its task is cancelled.
package final class TransferMeter: Sendable {
  private let cancelled = Atomic(false)
  private let handler: (@Sendable (_ bytes: Int) -> Void)?

  /// - Parameter handler: Called from the transferring thread with the bytes moved so far.
  package init(_ handler: (@Sendable (_ bytes: Int) -> Void)? = nil) { self.handler = handler }

  package var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

  package func cancel() { cancelled.store(true, ordering: .relaxed) }

  func moved(_ bytes: Int) { handler?(bytes) }

  func requireGoing() throws { if isCancelled { throw CancellationError() } }
}
