import GodwitBase
import GodwitCore
import GodwitStorage

/// Steps through one origin's transactions.
final class LogCursor {
  private let connection: Connection
  private let coder: LogCoder
  private let origin: Origin
  private let statement: Statement
  private static let sql = """
    SELECT l.id, l.hlc, l.schema, l.size, l.changes, l.deleted_cells, c.vector
    FROM godwit_log l LEFT JOIN godwit_context c ON c.id = l.id WHERE l.id > ? AND l.id <= ? ORDER BY l.id
    """

  init(
    _ connection: Connection, coder: LogCoder, origin: Origin, number: Int, after sequence: SequenceNumber,
    through last: SequenceNumber
  ) throws {
    self.connection = connection
    self.coder = coder
    self.origin = origin
    statement = try connection.borrow(Self.sql)
    try statement.bind(LogKey(origin: number, sequence).rawValue, at: 1)
    try statement.bind(LogKey(origin: number, last).rawValue, at: 2)
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
