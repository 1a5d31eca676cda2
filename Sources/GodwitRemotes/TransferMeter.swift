import Synchronization

/// Counts what a transfer has moved, slows it down where there is a limit, and ends it when its task is cancelled.
package final class TransferMeter: Sendable {
  private let cancelled = Atomic(false)
  private let pace: TransferPace?
  private let handler: (@Sendable (_ bytes: Int) -> Void)?

  /// - Parameters:
  ///   - pace: How fast bytes may move; nil for as fast as they can.
  ///   - handler: Called from the transferring thread with the bytes moved so far.
  package init(pace: TransferPace? = nil, _ handler: (@Sendable (_ bytes: Int) -> Void)? = nil) {
    self.pace = pace
    self.handler = handler
  }

  package var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

  package func cancel() { cancelled.store(true, ordering: .relaxed) }

  func moved(_ bytes: Int) { handler?(bytes) }

  /// The most bytes to move between two calls of ``spend(_:)``; nil where nothing is limited.
  var pieceLimit: Int? { pace?.pieceLimit }

  /// Blocks as long as so many more bytes take.
  func spend(_ bytes: Int) { pace?.spend(bytes) { !isCancelled } }

  func requireGoing() throws { if isCancelled { throw CancellationError() } }
}
