import GodwitBase
import GodwitCore
import GodwitCrypto
import GodwitKeys
import GodwitStorage

extension ChangeLog {
  /// Drops an origin's entries from the beginning, and returns how many. What stays of them is the floor: the sequence
  /// up to which they are gone, the chain there, and the context from which later ones count on.
  ///
  /// - Parameters:
  ///   - end: The last that may go.
  ///   - isEnough: Called with each entry's time and the bytes of its change set; true makes it the last that goes.
  func drop(
    _ origin: Origin, through end: SequenceNumber, until isEnough: (HLC, Int) -> Bool
  ) throws -> Int {
    let head = try origins.head(of: origin)
    let first = LogKey(origin: head.number, head.floor).rawValue
    let sql = "SELECT id, chain, length(changes), hlc FROM godwit_log WHERE id > ? AND id <= ? ORDER BY id"
    var last: (key: Int64, chain: ContentHash)?
    var count = 0
    try connection.withStatement(sql) { statement in
      try statement.bind(first, at: 1)
      try statement.bind(LogKey(origin: head.number, end).rawValue, at: 2)
      while try statement.step() {
        var chain = ByteReader(statement.blob(at: 1))
        last = (statement.integer(at: 0), try ContentHash(reading: &chain))
        count += 1
        let hlc = HLC(rawValue: UInt64(bitPattern: statement.integer(at: 3)))
        if isEnough(hlc, Int(statement.integer(at: 2))) { break }
      }
    }
    guard let last else { return 0 }
    try origins.raiseFloor(of: origin, to: LogKey(rawValue: last.key).sequence, chain: last.chain)
    try connection.run("DELETE FROM godwit_log WHERE id > ? AND id <= ?", [.integer(first), .integer(last.key)])
    let base = Value.integer(LogKey(origin: head.number, .none).rawValue)
    try connection.run(
      """
      DELETE FROM godwit_context
      WHERE id > ?1 AND id < (SELECT max(id) FROM godwit_context WHERE id > ?1 AND id <= ?2)
      """, [base, .integer(last.key)])
    return count
  }

  /// Drops everything, of all origins.
  static func removeAll(on connection: Connection) throws {
    try connection.execute("DELETE FROM godwit_log; DELETE FROM godwit_context")
  }
}
