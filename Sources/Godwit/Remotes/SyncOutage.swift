/// How long a replica's own folder has been out of reach. A short outage is waited for in silence; a longer one, as of
/// a file system that has become read only, is a failure.
struct SyncOutage {
  typealias Instant = ContinuousClock.Instant

  /// What is waited for in silence.
  static let patience = Duration.seconds(300)

  private let patience: Duration
  private var since: Instant?

  init(patience: Duration = patience) { self.patience = patience }

  /// Notes that the folder could not be reached, and returns whether that has lasted longer than is waited for.
  mutating func noteFailure(at now: Instant) -> Bool {
    let first = since ?? now
    since = first
    return now - first >= patience
  }

  mutating func noteSuccess() { since = nil }
}
