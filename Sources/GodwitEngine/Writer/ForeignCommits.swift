import GodwitBase
import GodwitStorage

/// Notices what other processes commit: `PRAGMA data_version` of a connection changes exactly then.
package final class ForeignCommits {
  private unowned let connection: Connection
  private let changes: any CommitListener
  private let clock: DocumentClock
  private var announced: Value?

  package init(_ connection: Connection, _ changes: any CommitListener, _ clock: DocumentClock) throws {
    self.connection = connection
    self.changes = changes
    self.clock = clock
    announced = try connection.scalar("PRAGMA data_version")
  }

  /// Wakes the observers when another process has committed since the last look; returns the version now.
  @discardableResult
  package func look() throws -> Value? {
    let version = try connection.scalar("PRAGMA data_version")
    if version != announced {
      announced = version
      clock.expectNews()
      changes.announce(.all)
    }
    return version
  }
}
