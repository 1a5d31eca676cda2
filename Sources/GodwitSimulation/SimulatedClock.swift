import Godwit
import Synchronization

/// A clock the simulation moves, with an offset of its own for each replica.
final class SimulatedClock: Sendable {
  private let now = Mutex<Int64>(1_700_000_000_000)

  func advance(_ milliseconds: Int64) { now.withLock { $0 += milliseconds } }

  func wallClock(offset: Int64) -> WallClock { WallClock { self.now.withLock { $0 + offset } } }
}
