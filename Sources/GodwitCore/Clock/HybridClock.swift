/// Hands out rising timestamps near the time of day (Specs/clock.md). The wall clock is passed in, so the clock is a
/// pure value.
///
/// It follows other replicas' timestamps only within ``reachMilliseconds``. Rows written with later ones are for the
/// caller to remember: a write to one of them asks for a timestamp above the remembered one.
package struct HybridClock: Sendable {
  /// How far beyond the own wall clock another's timestamp is followed. An hour is more than a clock that is looked
  /// after is ever wrong by, a time zone mistaken for UTC aside, and too little for a dragged clock to decide much.
  package static let reachMilliseconds: Int64 = 3_600_000

  /// The latest timestamp handed out or followed.
  package private(set) var last: HLC

  package init(last: HLC = HLC(rawValue: 0)) { self.last = last }

  /// A timestamp greater than every one handed out or followed. When the wall clock stands or goes back the
  /// counter rises; when the counter is full it carries into the milliseconds.
  package mutating func tick(wallMilliseconds: Int64) -> HLC {
    last = max(HLC(rawValue: last.rawValue + 1), HLC(milliseconds: wallMilliseconds))
    return last
  }

  /// A timestamp for a transaction that writes rows remembered up to `remembered`: greater than that, too. The clock
  /// ticks as ever and does not follow, so a result beyond ``last`` has to be remembered in turn.
  package mutating func tick(wallMilliseconds: Int64, above remembered: HLC?) -> HLC {
    let own = tick(wallMilliseconds: wallMilliseconds)
    guard let remembered, remembered >= own else { return own }
    return HLC(rawValue: remembered.rawValue + 1)
  }

  /// Follows another replica's timestamp, so that the next own one is greater. False when it lies beyond reach: what
  /// was written with it has to be remembered.
  package mutating func follow(_ other: HLC, wallMilliseconds: Int64) -> Bool {
    if other <= last { return true }
    guard other.milliseconds - Self.reachMilliseconds <= wallMilliseconds else { return false }
    last = other
    return true
  }

  /// Whether the wall clock was set back so far that the timestamps to come would burden the others. Twice the reach,
  /// so that following others never leads here by itself.
  package func isAstray(wallMilliseconds: Int64) -> Bool {
    return last.milliseconds - 2 * Self.reachMilliseconds > wallMilliseconds
  }

  /// Goes back to the wall clock. What was written with later timestamps has to be remembered first.
  package mutating func goBack(wallMilliseconds: Int64) { last = min(last, HLC(milliseconds: wallMilliseconds)) }
}
