import Foundation
import GodwitBase

/// Rows on their way from a thread of their own to a loop that takes them. The thread waits while a portion lies ready,
/// so that two portions are in memory: the one that is taken from, and the next.
///
/// Unchecked Sendable: what may change is touched only under `condition`.
package final class RowChannel<Element: Sendable>: @unchecked Sendable {
  private static var portionSize: Int { 256 }

  private let condition = NSCondition()
  private var ready: [Element]?
  private var end: Result<Void, any Error>?
  private var waiting: CheckedContinuation<[Element]?, any Error>?
  private var job: Task<Void, Never>?

  /// Runs the body on the thread, and ends that after it.
  init(
    _ thread: DatabaseThread<Connection>,
    _ body: @escaping @Sendable (Connection, (Element) throws -> Void) throws -> Void
  ) {
    let job = Task { [self] in
      do {
        try await thread.run { connection in
          try connection.reading { try self.fill { give in try body(connection, give) } }
        }
        finish(.success(()))
      } catch {
        finish(.failure(error))
      }
      await thread.close()
    }
    condition.withLock { self.job = job }
  }

  // MARK: The loop

  /// The next portion of rows; nil at the end.
  ///
  /// - Throws: What the body threw, and what ``stop(_:)`` was given; `CancellationError` when the task is cancelled.
  package func next() async throws -> [Element]? {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { take($0) }
    } onCancel: {
      stop(CancellationError())
    }
  }

  private func take(_ continuation: CheckedContinuation<[Element]?, any Error>) {
    let result: Result<[Element]?, any Error>? = condition.withLock {
      if let rows = ready {
        ready = nil
        condition.signal()
        return .success(rows)
      }
      if let end { return end.map { nil } }
      waiting = continuation
      return nil
    }
    if let result { continuation.resume(with: result) }
  }

  /// Ends it: the body is interrupted, and the loop gets the error.
  package func stop(_ error: any Error) {
    finish(.failure(error), dropsReady: true)
    condition.withLock { job }?.cancel()
  }

  // MARK: The thread

  private func fill(_ body: ((Element) throws -> Void) throws -> Void) throws {
    var portion: [Element] = []
    try body { element in
      portion.append(element)
      guard portion.count >= Self.portionSize else { return }
      try give(portion)
      portion = []
    }
    if !portion.isEmpty { try give(portion) }
  }

  private func give(_ portion: [Element]) throws {
    let consumer: CheckedContinuation<[Element]?, any Error>? = try condition.withLock {
      while ready != nil, end == nil { condition.wait() }
      guard end == nil else { throw CancellationError() }
      guard let waiting else {
        ready = portion
        return nil
      }
      self.waiting = nil
      return waiting
    }
    consumer?.resume(returning: portion)
  }

  private func finish(_ result: Result<Void, any Error>, dropsReady: Bool = false) {
    let consumer: CheckedContinuation<[Element]?, any Error>? = condition.withLock {
      guard end == nil else { return nil }
      end = result
      if dropsReady { ready = nil }
      condition.signal()
      defer { waiting = nil }
      return waiting
    }
    consumer?.resume(with: result.map { nil })
  }
}

extension RowChannel: RowProducer {
  func hasEnded() async { await condition.withLock { job }?.value }
}

/// A ``RowChannel`` of any rows, as the pool that closes knows it.
protocol RowProducer: AnyObject, Sendable {
  func stop(_ error: any Error)
  /// Returns when its thread has ended.
  func hasEnded() async
}
