/// A hybrid logical clock timestamp: 48 bits of milliseconds since 1970 UTC, then 16 bits of a counter
/// (Kulkarni et al., "Logical Physical Clocks", 2014). A write to a cell that saw another write to it has the
/// greater HLC; across cells that need not be so (Specs/clock.md).
package struct HLC: RawRepresentable, Hashable, Comparable, Sendable {
  package let rawValue: UInt64

  /// Timestamps from the year 4199 on are refused; there are as many ticks again before one would overflow.
  package static let limit = HLC(rawValue: UInt64(1) << 62)

  /// How far a state file's clock may push the writes to all rows at once: half of the room stays for what must be
  /// later.
  package static let everyRowLimit = HLC(rawValue: UInt64(1) << 61)

  package init(rawValue: UInt64) { self.rawValue = rawValue }

  /// A time before 1970 counts as 1970, one beyond what a timestamp holds as the last one.
  package init(milliseconds: Int64, counter: UInt16 = 0) {
    rawValue = min(UInt64(clamping: milliseconds), 1 << 48 - 1) << 16 | UInt64(counter)
  }

  package var milliseconds: Int64 { Int64(rawValue >> 16) }
  package var counter: UInt16 { UInt16(truncatingIfNeeded: rawValue) }

  package static func < (left: HLC, right: HLC) -> Bool { left.rawValue < right.rawValue }
}
