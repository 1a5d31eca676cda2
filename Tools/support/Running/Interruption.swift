import Foundation
import Synchronization

/// Ctrl-C: the first one cancels the running work, a second one or a second of patience ends the program.
final class Interruption: Sendable {
  private static let patienceMilliseconds: Int32 = 1000
  /// A signal handler may do next to nothing, but it may write into a pipe. Made before the handler is set.
  private static let wakeup = SignalStream.makePipe()
  /// See ``Interrupts``.
  fileprivate static let listener = Mutex<(@Sendable () -> Void)?>(nil)

  private let isTaken: Bool
  private let state = Mutex((isInterrupted: false, isFinished: false))

  /// Takes over SIGINT. One that the caller ignores, as a shell does for background jobs, stays ignored.
  ///
  /// A handler, because the main thread of an asynchronous program waits with all signals open: blocking SIGINT for a
  /// thread that waits for it does not hold there.
  init() {
    var action = sigaction()
    sigaction(SIGINT, nil, &action)
    let handler = action.__sigaction_handler.sa_handler.map { unsafeBitCast($0, to: Int.self) }
    isTaken = handler != unsafeBitCast(SIG_IGN, to: Int.self) && Self.wakeup.writing >= 0
    guard isTaken else { return }
    action.__sigaction_handler.sa_handler = { _ in
      var byte: UInt8 = 0
      _ = write(Interruption.wakeup.writing, &byte, 1)
    }
    action.sa_flags = SA_RESTART
    sigaction(SIGINT, &action, nil)
  }

  /// Calls back once when the user interrupts.
  func onInterrupt(_ cancel: @escaping @Sendable () -> Void) {
    guard isTaken else { return }
    Thread.detachNewThread {
      repeat { Self.wait(milliseconds: -1) } while Self.isListenedTo()
      self.state.withLock { $0.isInterrupted = true }
      cancel()
      Self.wait(milliseconds: Self.patienceMilliseconds)
      // Work that does not end by itself holds nothing that a killed process could leave half done.
      if self.finish() { self.exitInterrupted() }
    }
  }

  /// Whether somebody else takes the signal, who is called.
  private static func isListenedTo() -> Bool {
    guard let listener = listener.withLock({ $0 }) else { return false }
    listener()
    return true
  }

  /// Whether the user interrupted the work.
  var isInterrupted: Bool { state.withLock(\.isInterrupted) }

  /// Says that the work is over; false when that was said before.
  @discardableResult
  func finish() -> Bool {
    state.withLock { state in
      defer { state.isFinished = true }
      return !state.isFinished
    }
  }

  func exitInterrupted() -> Never {
    TerminalRestoration.restore()
    try? StandardStream.error.write("interrupted\n")
    _exit(ExitStatus.interrupted)
  }

  /// Returns after a signal or, unless that is negative, after the time.
  private static func wait(milliseconds: Int32) {
    var descriptor = pollfd(fd: wakeup.reading, events: Int16(POLLIN), revents: 0)
    while poll(&descriptor, 1, milliseconds) < 0, errno == EINTR {}
    var byte: UInt8 = 0
    if descriptor.revents != 0 { _ = read(wakeup.reading, &byte, 1) }
  }
}

/// Ctrl-C as a prompt takes it, which it does not end.
public enum Interrupts {
  /// Calls the listener, on another thread, each time that the user interrupts while the body runs, in place of
  /// cancelling the work and ending the program.
  public static func withListener<Output>(
    _ listener: @escaping @Sendable () -> Void, _ body: () async throws -> Output
  ) async rethrows -> Output {
    Interruption.listener.withLock { $0 = listener }
    defer { Interruption.listener.withLock { $0 = nil } }
    return try await body()
  }
}
