import GodwitBase
import GodwitStorage

/// Notices what other processes commit: `PRAGMA data_version` of a connection changes exactly then.
final class ForeignCommits {
  private unowned let connection: Connection
  private let changes: ChangeBroadcaster
  private let clock: DocumentClock
  private var announced: Value?

  init(_ connection: Connection, _ changes: ChangeBroadcaster, _ clock: DocumentClock) throws {
    self.connection = connection
    self.changes = changes
    self.clock = clock
    announced = try connection.scalar("PRAGMA data_version")
  }

  /// Wakes the observers when another process has committed since the last look; returns the version now.
  @discardableResult
  func look() throws -> Value? {
    let version = try connection.scalar("PRAGMA data_version")
    if version != announced {
      announced = version
      clock.expectNews()
      changes.announce(.all)
    }
    return version
  }
}
