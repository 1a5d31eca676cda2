import Foundation

/// Where the time of day comes from; passed in, so that a simulation has its own.
package struct WallClock: Sendable {
  /// Milliseconds since 1970 UTC.
  package let milliseconds: @Sendable () -> Int64

  package init(milliseconds: @escaping @Sendable () -> Int64) { self.milliseconds = milliseconds }

  /// The machine's clock.
  package static let system = WallClock {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
  }
}
