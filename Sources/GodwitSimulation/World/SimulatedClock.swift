import Godwit
import Synchronization

/// The time of day of a simulated world. Every replica reads it with an offset of its own.
final class SimulatedClock: Sendable {
  private let now = Mutex<Int64>(1_800_000_000_000)

  var milliseconds: Int64 { now.withLock { $0 } }

  func advance(_ milliseconds: Int64) { now.withLock { $0 += milliseconds } }
}

/// One machine's clock, which may be wrong and may be set.
final class MachineClock: Sendable {
  private let world: SimulatedClock
  private let offset = Mutex<Int64>(0)

  init(_ world: SimulatedClock) { self.world = world }

  func set(offset milliseconds: Int64) { offset.withLock { $0 = milliseconds } }

  var offsetMilliseconds: Int64 { offset.withLock { $0 } }

  var milliseconds: Int64 { world.milliseconds + offset.withLock { $0 } }

  var wallClock: WallClock { WallClock { self.milliseconds } }
}
