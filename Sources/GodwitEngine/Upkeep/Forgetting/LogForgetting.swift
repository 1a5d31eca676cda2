import GodwitCore

/// Drops log entries that nobody needs any more, a bounded piece at a time.
struct LogForgetting {
  private let log: ChangeLog
  private var rest: Forgetting.Portion
  /// The latest timestamp that was dropped.
  private(set) var latest = HLC(rawValue: 0)

  init(_ log: ChangeLog, _ portion: Forgetting.Portion) {
    self.log = log
    rest = portion
  }

  /// Drops transactions that the vector covers and the row states know. Returns how many.
  mutating func drop(through frontier: VersionVector) throws -> Int {
    let (floor, end) = (log.origins.floor, frontier.intersection(log.origins.foldedVector))
    var count = 0
    for origin in end.origins where floor[origin] < end[origin] && !isSpent {
      count += try log.drop(origin, through: end[origin]) { hlc, byteCount in
        latest = max(latest, hlc)
        rest.transactions -= 1
        rest.bytes -= byteCount
        return isSpent
      }
    }
    return count
  }

  private var isSpent: Bool { rest.transactions <= 0 || rest.bytes <= 0 }
}
