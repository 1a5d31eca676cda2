import Foundation
import GodwitBase
import Synchronization

/// How many bytes a second may move, in both directions together, over all transfers that share the value.
package final class TransferPace: Sendable {
  /// The fewest bytes a second: with fewer, the other side would take a transfer for one that is stuck.
  package static let minimum = 1_000
  /// The longest wait in one piece, so that a transfer that is cancelled ends soon.
  private static let longestWait = Duration.milliseconds(20)

  private let bytesPerSecond: Int
  private let now: @Sendable () -> Duration
  private let wait: @Sendable (Duration) -> Void
  /// From when on more may move: what has moved so far is paid with time until then.
  private let due = Mutex(Duration.zero)

  /// - Throws: `invalidArgument` for fewer than ``minimum`` bytes a second.
  package convenience init(bytesPerSecond: Int) throws(GodwitError) {
    let start = ContinuousClock.now
    try self.init(bytesPerSecond: bytesPerSecond, now: { ContinuousClock.now - start }) { pause in
      usleep(UInt32(pause / .microseconds(1)) + 1)
    }
  }

  /// - Parameters:
  ///   - now: The time since any moment.
  ///   - wait: Blocks for so long.
  package init(
    bytesPerSecond: Int, now: @escaping @Sendable () -> Duration, wait: @escaping @Sendable (Duration) -> Void
  ) throws(GodwitError) {
    guard bytesPerSecond >= Self.minimum else {
      throw GodwitError(
        .invalidArgument, "a limit of \(bytesPerSecond) bytes a second is too low",
        hint: "give \(Self.minimum) or more, such as 500k or 2M")
    }
    self.bytesPerSecond = bytesPerSecond
    self.now = now
    self.wait = wait
  }

  /// The most bytes to move at a time: what a tenth of a second allows, so that no silence is long.
  var pieceLimit: Int { max(1 << 10, bytesPerSecond / 10) }

  /// Waits as long as so many bytes take, counted from when the bytes before them were paid.
  func spend(_ bytes: Int, while isGoing: () -> Bool) {
    let start = now()
    // Rounded up, so that many small pieces are not a little faster than one large one.
    let price = Duration.nanoseconds(Int64((Double(bytes) * 1e9 / Double(bytesPerSecond)).rounded(.up)))
    let end = due.withLock { due in
      due = max(due, start) + price
      return due
    }
    var present = start
    while present < end, isGoing() {
      wait(min(end - present, Self.longestWait))
      present = now()
    }
  }
}
