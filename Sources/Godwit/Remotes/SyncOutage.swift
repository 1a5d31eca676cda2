import GodwitBase

/// How long a replica's own folder has been out of reach. A short outage is waited for in silence; a longer one, as of
/// a file system that has become read only, is a failure.
struct SyncOutage {
  typealias Instant = ContinuousClock.Instant

  /// What is waited for in silence.
  static let patience = Duration.seconds(300)

  private let patience: Duration
  private var since: Instant?

  init(patience: Duration = patience) { self.patience = patience }

  /// Notes why something could not be done, and returns whether the folder has been out of reach for longer than is
  /// waited for. Where it was reached, and was busy, that begins anew.
  mutating func isLong(_ error: GodwitError, at now: Instant) -> Bool {
    guard error.code == .fileAccess else {
      since = nil
      return false
    }
    let first = since ?? now
    since = first
    return now - first >= patience
  }

  mutating func noteSuccess() { since = nil }
}
