import GodwitBase
import GodwitKeys
import GodwitCore
import GodwitStorage

/// Drops log entries from their origins' beginnings. What stays of them is the floor: the sequence up to which they
/// are gone, the chain there, and the context from which later ones count on.
struct LogForgetting {
  private let connection: Connection
  private let log: ChangeLog
  /// The latest timestamp that was dropped.
  private(set) var latest = HLC(rawValue: 0)

  init(_ connection: Connection, _ log: ChangeLog) {
    self.connection = connection
    self.log = log
  }

  /// Drops transactions that the vector covers and the row states know. Returns how many.
  mutating func drop(through frontier: VersionVector, _ portion: Forgetting.Portion) throws -> Int {
    let end = frontier.intersection(log.origins.foldedVector)
    var rest = portion
    var count = 0
    for origin in end.origins where log.origins.floor[origin] < end[origin] && rest.transactions > 0 && rest.bytes > 0 {
      count += try drop(origin, through: end[origin], &rest)
    }
    return count
  }

  private mutating func drop(
    _ origin: Origin, through end: SequenceNumber, _ rest: inout Forgetting.Portion
  ) throws -> Int {
    let head = try log.origins.head(of: origin)
    let first = LogKey(origin: head.number, head.floor).rawValue
    let sql = "SELECT id, chain, length(changes), hlc FROM godwit_log WHERE id > ? AND id <= ? ORDER BY id"
    var last: (key: Int64, chain: ContentHash)?
    var count = 0
    try connection.withStatement(sql) { statement in
      try statement.bind(first, at: 1)
      try statement.bind(LogKey(origin: head.number, end).rawValue, at: 2)
      while rest.transactions > 0, rest.bytes > 0, try statement.step() {
        var chain = ByteReader(statement.blob(at: 1))
        last = (statement.integer(at: 0), try ContentHash(reading: &chain))
        count += 1
        latest = max(latest, HLC(rawValue: UInt64(bitPattern: statement.integer(at: 3))))
        rest.transactions -= 1
        rest.bytes -= Int(statement.integer(at: 2))
      }
    }
    guard let last else { return 0 }
    let floor = LogKey(rawValue: last.key).sequence
    try log.origins.raiseFloor(of: origin, to: floor, chain: last.chain)
    try connection.run("DELETE FROM godwit_log WHERE id > ? AND id <= ?", [.integer(first), .integer(last.key)])
    let base = Value.integer(LogKey(origin: head.number, .none).rawValue)
    try connection.run(
      """
      DELETE FROM godwit_context
      WHERE id > ?1 AND id < (SELECT max(id) FROM godwit_context WHERE id > ?1 AND id <= ?2)
      """, [base, .integer(last.key)])
    return count
  }
}
