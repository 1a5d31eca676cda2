/// When a replica that keeps itself in sync takes care of its database (Specs/agent.md, "The agent"). Instants are
/// handed in, as to ``SyncSchedule``.
struct CareSchedule {
  typealias Instant = ContinuousClock.Instant

  /// How long nothing must have changed.
  static let quiet = Duration.seconds(60)
  /// From the beginning to the first time. Imports do what cannot wait by themselves.
  static let first = Duration.seconds(3_600)
  /// From each time to the next.
  static let interval = Duration.seconds(86_400)

  private var earliest: Instant
  private var last: (count: UInt64, change: Instant)
  /// How many transactions there were when care was taken.
  private var cared: UInt64

  /// - Parameter count: How many transactions this replica has written and taken in all.
  init(count: UInt64, at now: Instant) {
    earliest = now + Self.first
    last = (count, now)
    cared = count
  }

  /// Notes how many transactions there are now.
  mutating func note(_ count: UInt64, at now: Instant) {
    if count != last.count { last = (count, now) }
  }

  /// When it is due; nil while nothing has changed since the last time.
  var next: Instant? { last.count == cared ? nil : max(earliest, last.change + Self.quiet) }

  /// Notes that care was taken, or could not be.
  mutating func finish(at now: Instant) {
    cared = last.count
    earliest = now + Self.interval
  }
}
