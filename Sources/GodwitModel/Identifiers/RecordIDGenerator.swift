import Foundation
import GodwitBase
import Synchronization

/// Makes UUIDs of version 7 from a buffer of random bytes (RFC 9562, sections 5.7 and 6.2 method 1: a 12-bit
/// counter in rand_a, starting anew each millisecond).
///
/// One system call serves 32 keys; Foundation's UUID() makes one call a key and costs microseconds.
enum RecordIDGenerator {
  private struct State {
    var milliseconds: UInt64 = 0
    var counter: UInt64 = 0
    var random: [UInt64] = []
  }
  private static let state = Mutex(State())

  static func next() -> Identifier128 {
    state.withLock { state in
      if state.random.isEmpty { refill(&state.random) }
      let random = state.random.removeLast()
      let now = wallMilliseconds()
      if now > state.milliseconds {
        state.milliseconds = now
        state.counter = 0
      } else {
        state.counter += 1
        if state.counter > 0xFFF {
          state.milliseconds += 1
          state.counter = 0
        }
      }
      let high = state.milliseconds << 16 | 0x7000 | state.counter
      return Identifier128(high: high, low: random & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000)
    }
  }

  private static func refill(_ random: inout [UInt64]) {
    random = [UInt64](repeating: 0, count: 32)  // 256 bytes, the most getentropy(3) gives at once
    let filled = random.withUnsafeMutableBytes { getentropy($0.baseAddress, $0.count) == 0 }
    guard !filled else { return }
    var generator = SystemRandomNumberGenerator()
    random = (0..<32).map { _ in generator.next() }
  }

  private static func wallMilliseconds() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return UInt64(time.tv_sec) * 1_000 + UInt64(time.tv_nsec) / 1_000_000
  }
}
