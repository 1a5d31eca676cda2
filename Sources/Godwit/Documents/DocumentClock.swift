import Synchronization

/// The instant by which documents are expired: the wall clock's, or the replica's own when that is later, since a clock
/// that lags hears of the time from others (Specs/documents.md, "Expiry").
final class DocumentClock: Sendable {
  private let wallClock: WallClock
  private let own = Atomic<Int64>(0)

  init(_ wallClock: WallClock) { self.wallClock = wallClock }

  /// Milliseconds since 1970 UTC.
  var now: Int64 { max(wallClock.milliseconds(), own.load(ordering: .relaxed)) }

  /// What the replica's clock shows after a transaction. It may also go back: after a wall clock that had been wrong.
  func follow(_ milliseconds: Int64) { own.store(milliseconds, ordering: .relaxed) }
}
