import GodwitBase
import GodwitCore
import GodwitStorage
import Synchronization

/// The instant by which documents are hidden: the wall clock's, or the replica's own when that is later, since a clock
/// that lags takes the time from others (Specs/documents.md, "Expiry").
package final class DocumentClock: Sendable {
  private let wallClock: WallClock
  private let own = Atomic<Int64>(0)
  /// From when on the database is to be looked at, by the wall clock.
  private let nextLook = Atomic<Int64>(0)
  /// So seldom that reading a document costs no more for it.
  private static let lookIntervalMilliseconds: Int64 = 1_000

  package init(_ wallClock: WallClock) { self.wallClock = wallClock }

  /// Milliseconds since 1970 UTC.
  package var now: Int64 { max(wallClock.milliseconds(), own.load(ordering: .relaxed)) }

  /// What the replica's clock shows after a transaction. It may also go back: after a wall clock that had been wrong.
  func follow(_ milliseconds: Int64) { own.store(milliseconds, ordering: .relaxed) }

  // MARK: Other processes

  /// Follows the time that other processes have taken from others and written to the database: at the first read of
  /// documents, and then about once a second. A process that only reads learns of it no other way.
  package func look(at connection: Connection) throws {
    let wall = wallClock.milliseconds()
    let next = nextLook.load(ordering: .relaxed)
    // A clock that was set back is no reason to wait for long.
    guard wall >= next || wall < next - Self.lookIntervalMilliseconds else { return }
    nextLook.store(wall + Self.lookIntervalMilliseconds, ordering: .relaxed)
    let known = own.load(ordering: .relaxed)
    let stored = try ReplicaClock.stored(on: connection).milliseconds
    // A state file may be older than the time that the writer has followed since; a clock that went back went far.
    guard stored > known || known - stored > 2 * HybridClock.reachMilliseconds else { return }
    _ = own.compareExchange(expected: known, desired: stored, ordering: .relaxed)
  }

  /// Lets the next read of documents look: another process has committed.
  func expectNews() { nextLook.store(0, ordering: .relaxed) }
}
