import Godwit
import Synchronization

/// A clock the simulation moves, with an offset of its own for each replica, which it may change.
final class SimulatedClock: Sendable {
  private let now = Mutex<Int64>(1_700_000_000_000)

  func advance(_ milliseconds: Int64) { now.withLock { $0 += milliseconds } }

  private let offsets = Mutex<[Int: Int64]>([:])

  func set(offset: Int64, of replica: Int) { offsets.withLock { $0[replica] = offset } }

  func wallClock(of replica: Int) -> WallClock {
    WallClock { self.now.withLock { $0 } + self.offsets.withLock { $0[replica] ?? 0 } }
  }
}
