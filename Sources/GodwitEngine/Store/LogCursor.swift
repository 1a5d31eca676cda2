import GodwitBase
import GodwitCore
import GodwitStorage

/// Steps through one origin's transactions, as ``ChangeLog`` selects them.
final class LogCursor {
  private let connection: Connection
  private let coder: LogCoder
  private let origin: Origin
  private let statement: Statement

  /// Of a borrowed statement, which it gives back.
  init(_ statement: Statement, of origin: Origin, _ coder: LogCoder, on connection: Connection) {
    self.statement = statement
    self.origin = origin
    self.coder = coder
    self.connection = connection
  }

  deinit { connection.giveBack(statement) }

  func next() throws -> (record: TransactionRecord, deletedCells: [UInt8])? {
    guard try statement.step() else { return nil }
    var context: VersionVector?
    if !statement.isNull(at: 6) {
      var reader = ByteReader(statement.blob(at: 6))
      context = try VersionVector(reading: &reader)
    }
    let record = TransactionRecord(
      dot: Dot(origin, LogKey(rawValue: statement.integer(at: 0)).sequence),
      hlc: HLC(rawValue: UInt64(bitPattern: statement.integer(at: 1))),
      schemaVersion: UInt64(bitPattern: statement.integer(at: 2)), context: context,
      changes: try coder.unpack(statement.blob(at: 4), size: Int(statement.integer(at: 3))))
    return (record, statement.blob(at: 5))
  }
}
