import GodwitEngine
import Synchronization

/// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014): one seed, one run.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
  private var state: UInt64

  package init(seed: UInt64) { state = seed }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// True once in `count` times.
  package mutating func chance(oneIn count: Int) -> Bool { Int.random(in: 0..<count, using: &self) == 0 }
}

extension IncarnationNumbers {
  /// The same for every world of a seed.
  static func seeded(_ seed: UInt64) -> IncarnationNumbers {
    let numbers = SeededNumbers(seed: seed)
    return IncarnationNumbers { numbers.next() }
  }
}

private final class SeededNumbers: Sendable {
  private let generator: Mutex<SeededGenerator>

  init(seed: UInt64) { generator = Mutex(SeededGenerator(seed: seed)) }

  func next() -> UInt32 { generator.withLock { UInt32.random(in: 1...UInt32.max, using: &$0) } }
}
