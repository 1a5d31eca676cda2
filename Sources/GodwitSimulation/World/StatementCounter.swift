import Foundation
import Logging
import Synchronization

/// Is called with every statement a replica runs, and takes a copy of its files after one of them: what a machine that
/// stops there leaves behind.
final class StatementCounter: LogHandler, Sendable {
  private struct Countdown {
    var left: Int
    let copy: @Sendable () -> Void
  }

  private let countdown = Mutex<Countdown?>(nil)

  /// Calls back after so many statements from now on, on the thread that runs them.
  func arm(after count: Int, _ copy: @escaping @Sendable () -> Void) {
    countdown.withLock { $0 = Countdown(left: count, copy: copy) }
  }

  /// Returns whether the callback was not called.
  func disarm() -> Bool {
    countdown.withLock { state in
      defer { state = nil }
      return state != nil
    }
  }

  var logger: Logger {
    var logger = Logger(label: "simulation") { _ in self }
    logger.logLevel = .debug
    return logger
  }

  // MARK: LogHandler

  var logLevel: Logger.Level {
    get { .debug }
    set {}
  }
  var metadata: Logger.Metadata {
    get { [:] }
    set {}
  }
  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { nil }
    set {}
  }

  func log(event: LogEvent) {
    guard event.metadata?["µs"] != nil else { return }
    let copy: (@Sendable () -> Void)? = countdown.withLock { state in
      guard let left = state?.left else { return nil }
      guard left <= 1 else {
        state?.left = left - 1
        return nil
      }
      defer { state = nil }
      return state?.copy
    }
    copy?()
  }
}
