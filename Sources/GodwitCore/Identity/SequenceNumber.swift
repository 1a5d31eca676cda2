/// An origin's contiguous transaction number: 1, 2, 3 …
package struct SequenceNumber: RawRepresentable, Hashable, Comparable, Sendable {
  package let rawValue: UInt64
  package init(rawValue: UInt64) { self.rawValue = rawValue }

  /// Before the first transaction.
  package static let none = SequenceNumber(rawValue: 0)
  /// The log keys transactions by 40 bits of sequence (Specs/change-log.md).
  package static let limit = SequenceNumber(rawValue: 1 << 40 - 1)

  package var next: SequenceNumber { SequenceNumber(rawValue: rawValue + 1) }

  package static func < (left: SequenceNumber, right: SequenceNumber) -> Bool { left.rawValue < right.rawValue }
}

/// Names one transaction: the origin and its sequence number.
package struct Dot: Hashable, Sendable {
  package let origin: Origin
  package let sequence: SequenceNumber

  package init(_ origin: Origin, _ sequence: SequenceNumber) {
    self.origin = origin
    self.sequence = sequence
  }
}
