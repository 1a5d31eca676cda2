/// When each remote is synced by a replica that keeps itself in sync (Specs/agent.md, "When"). Instants are handed in,
/// so that it is the same in a test as in a program.
struct SyncSchedule {
  typealias Instant = ContinuousClock.Instant

  private struct Remote {
    var due: Instant
    /// How often in a row its sync has failed.
    var failures = 0
  }

  /// How long nothing more must be written here before what was written goes out.
  static let settling = Duration.seconds(2)
  /// How long it waits at most for that.
  static let longestSettling = Duration.seconds(10)
  /// The pause after a failure, where the interval is not shorter, doubles from here.
  static let shortestPause = Duration.seconds(60)
  /// The longest pause after failures.
  static let longestPause = Duration.seconds(900)
  /// The pause after what has nothing to do with a remote: this replica was busy.
  static let patience = Duration.seconds(10)
  /// The part of a pause by which it is longer or shorter, so that machines that started together do not come together.
  static let jitter = 0.2

  private let interval: Duration
  private var remotes: [String: Remote] = [:]
  private var change: (first: Instant, last: Instant)?

  init(interval: Duration) { self.interval = interval }

  /// Takes the remotes that there are now: new ones are due at once.
  mutating func set(_ names: [String], at now: Instant) {
    remotes = Dictionary(uniqueKeysWithValues: Set(names).map { ($0, remotes[$0] ?? Remote(due: now)) })
  }

  /// Notes that something was written here.
  mutating func noteChange(at now: Instant) { change = (change?.first ?? now, now) }

  /// When to look again; nil while there are no remotes.
  var next: Instant? {
    let polls = remotes.values.map(\.due)
    let settled = remotes.values.contains { $0.failures == 0 } ? settledAt : nil
    return (polls + [settled].compactMap(\.self)).min()
  }

  /// The remotes to sync now, by name: those whose pause is over, and once what was written here has settled all that
  /// did not fail last.
  func due(at now: Instant) -> [String] {
    let hasSettled = settledAt.map { $0 <= now } ?? false
    return remotes.filter { $0.value.due <= now || (hasSettled && $0.value.failures == 0) }.map(\.key).sorted()
  }

  /// Notes that what has settled is about to go out; what is written from now on is another change.
  mutating func begin(at now: Instant) {
    if let settledAt, settledAt <= now { change = nil }
  }

  /// Notes how the sync of a remote ended.
  ///
  /// - Parameter random: From 0 to 1, another number each time.
  mutating func finish(_ name: String, isFailed: Bool, at now: Instant, random: Double) {
    guard var remote = remotes[name] else { return }
    remote.failures = isFailed ? remote.failures + 1 : 0
    // Twice as long after each failure; 2 to the power of 10 seconds is more than the longest pause.
    let pause =
      isFailed
      ? min(min(interval, Self.shortestPause) * (1 << min(remote.failures, 10)), Self.longestPause) : interval
    remote.due = now + pause * (1 + Self.jitter * (2 * random - 1))
    remotes[name] = remote
  }

  /// Notes that these could not be synced for a reason that is here: what was to go out is still to go out.
  mutating func postpone(_ names: [String], at now: Instant) {
    for name in names { remotes[name]?.due = now + Self.patience }
  }

  private var settledAt: Instant? {
    change.map { min($0.last + Self.settling, $0.first + Self.longestSettling) }
  }
}
