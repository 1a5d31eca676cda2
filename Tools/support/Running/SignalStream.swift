import Foundation
import Synchronization

/// Signals that a program takes while it runs, one after another. What the program was sent before is not among them.
public enum SignalStream {
  /// A signal handler may do next to nothing, but it may write into a pipe. Made before a handler is set.
  private static let wakeup = makePipe()
  private static let receiver = Mutex<(@Sendable (Int32) -> Void)?>(nil)

  /// Takes these signals from now on, and for as long as the process lives. Programs that it starts have what the
  /// system does with them by itself. One that the caller ignores stays ignored.
  ///
  /// - Parameter receive: Called on a thread of its own, with one signal after another.
  public static func take(_ signals: [Int32], _ receive: @escaping @Sendable (Int32) -> Void) {
    receiver.withLock { $0 = receive }
    guard wakeup.writing >= 0 else { return }
    for signal in signals {
      var action = sigaction()
      sigaction(signal, nil, &action)
      let handler = action.__sigaction_handler.sa_handler.map { unsafeBitCast($0, to: Int.self) }
      guard handler != unsafeBitCast(SIG_IGN, to: Int.self) else { continue }
      action.__sigaction_handler.sa_handler = { number in
        var byte = UInt8(truncatingIfNeeded: number)
        _ = write(SignalStream.wakeup.writing, &byte, 1)
      }
      action.sa_flags = SA_RESTART
      sigaction(signal, &action, nil)
    }
    Thread.detachNewThread {
      var byte: UInt8 = 0
      while true {
        let count = read(wakeup.reading, &byte, 1)
        guard count == 1 || (count < 0 && errno == EINTR) else { return }
        if count == 1 { receiver.withLock(\.self)?(Int32(byte)) }
      }
    }
  }

  /// The two ends of a pipe that programs which are started do not have; negative when there is none to be had.
  static func makePipe() -> (reading: Int32, writing: Int32) {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { return (-1, -1) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
  }
}
