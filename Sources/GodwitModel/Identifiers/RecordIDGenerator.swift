import Foundation
import GodwitBase
import Synchronization

/// Makes UUIDs of version 7 from a buffer of random bytes (RFC 9562, sections 5.7 and 6.2 method 2: the 74 bits
/// beside the time begin at random each millisecond and grow by a random amount within it).
///
/// Keys made in one go share all but their last bytes, so a log of new rows compresses to half the bytes a key.
/// One system call serves many keys; Foundation's UUID() makes one call a key and costs microseconds.
struct RecordIDGenerator {
  private static let shared = Mutex(RecordIDGenerator())

  private var milliseconds: UInt64 = 0
  /// The 12 bits of rand_a and the 62 of rand_b.
  private var upper: UInt64 = 0
  private var lower: UInt64 = 0
  private var random: [UInt64] = []

  private static let upperMask: UInt64 = 0xFFF
  private static let lowerMask: UInt64 = 0x3FFF_FFFF_FFFF_FFFF

  /// A key greater than every one this process made before.
  static func next() -> Identifier128 {
    let now = wallMilliseconds()
    return shared.withLock { $0.next(now) }
  }

  mutating func next(_ now: UInt64) -> Identifier128 {
    if now > milliseconds {
      restart(at: now)
    } else {
      lower += (nextRandom() >> 32) + 1
      upper += lower >> 62
      lower &= Self.lowerMask
      if upper > Self.upperMask { restart(at: milliseconds + 1) }
    }
    return Identifier128(high: milliseconds << 16 | 0x7000 | upper, low: lower | 0x8000_0000_0000_0000)
  }

  /// The highest bit starts at 0, which leaves room to grow.
  private mutating func restart(at time: UInt64) {
    milliseconds = time
    upper = nextRandom() & (Self.upperMask >> 1)
    lower = nextRandom() & Self.lowerMask
  }

  private mutating func nextRandom() -> UInt64 {
    if random.isEmpty { refill() }
    return random.removeLast()
  }

  private mutating func refill() {
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
