/// Hands out rising timestamps. The wall clock is passed in, so the clock is a pure value.
package struct HybridClock: Sendable {
  package private(set) var last: HLC

  package init(last: HLC = HLC(rawValue: 0)) { self.last = last }

  /// A timestamp greater than every one handed out or observed. When the wall clock stands or goes back the
  /// counter rises; when the counter is full it carries into the milliseconds.
  package mutating func tick(wallMilliseconds: Int64) -> HLC {
    last = max(HLC(rawValue: last.rawValue + 1), HLC(milliseconds: wallMilliseconds))
    return last
  }

  /// Takes note of another replica's timestamp.
  package mutating func observe(_ other: HLC) { last = max(last, other) }
}
