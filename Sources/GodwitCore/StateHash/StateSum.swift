/// A sum of hashes in two lanes of 64 bits, in which order does not matter and what was added can be taken away.
package struct StateSum: Hashable, Sendable {
  package var low: UInt64
  package var high: UInt64

  package static let zero = StateSum(low: 0, high: 0)
  package static let byteCount = 16

  @inlinable package init(low: UInt64, high: UInt64) {
    self.low = low
    self.high = high
  }

  @inlinable package static func += (sum: inout StateSum, term: StateSum) {
    sum.low &+= term.low
    sum.high &+= term.high
  }

  @inlinable package static func -= (sum: inout StateSum, term: StateSum) {
    sum.low &-= term.low
    sum.high &-= term.high
  }

  package static func + (left: StateSum, right: StateSum) -> StateSum {
    var sum = left
    sum += right
    return sum
  }

  package static func - (left: StateSum, right: StateSum) -> StateSum {
    var sum = left
    sum -= right
    return sum
  }
}
