import GodwitStorage
import Logging

extension Replica {
  /// Which SQL statements a replica's logger gets, at level `debug`, each with how long it took.
  public enum StatementLog: Sendable {
    /// None.
    case none
    /// Their text, with `?` in place of the values that were bound: nothing stored shows.
    case redacted
    /// Their text with all values. Whoever reads the log reads the data.
    case withValues

    func listen(to connection: Connection, logger: Logger) throws {
      guard self != .none else { return }
      connection.observeStatements(
        StatementObserver(expandsValues: self == .withValues) { text, microseconds in
          logger.debug("\(text)", metadata: ["µs": "\(microseconds)"])
        })
    }
  }
}
