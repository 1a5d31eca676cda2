import GodwitBase
import GodwitCrypto
import GodwitKeys
import GodwitCore
import GodwitStorage

/// How much waits, and what waits without a gap.
extension StagedTransactions {
  /// How much waits of each origin, in their order.
  func amounts() throws -> [(origin: Origin, amount: WaitingLimits.Amount)] {
    let sql = """
      SELECT replica, incarnation, count(*), sum(size) FROM godwit_staged GROUP BY replica, incarnation
      ORDER BY replica, incarnation
      """
    return try connection.withStatement(sql) { statement in
      var amounts: [(Origin, WaitingLimits.Amount)] = []
      while try statement.step() {
        let amount = WaitingLimits.Amount(
          transactions: Int(statement.integer(at: 2)), bytes: Int(statement.integer(at: 3)))
        amounts.append((try Origin(columnsOf: statement), amount))
      }
      return amounts
    }
  }

  /// What waits, by origin.
  package func ranges() throws -> [MissingReport.Waiting] {
    let sql = """
      SELECT replica, count(*), min(sequence), max(sequence), sum(size), sum(flags & 4 != 0) FROM godwit_staged
      GROUP BY replica, incarnation ORDER BY replica, incarnation
      """
    return try connection.withStatement(sql) { statement in
      var ranges: [MissingReport.Waiting] = []
      while try statement.step() {
        var reader = ByteReader(statement.blob(at: 0))
        let first = UInt64(clamping: statement.integer(at: 2))
        let last = UInt64(clamping: statement.integer(at: 3))
        ranges.append(
          MissingReport.Waiting(
            replica: ReplicaID(try Identifier128(reading: &reader)), transactions: Int(statement.integer(at: 1)),
            bytes: Int(statement.integer(at: 4)), setAside: Int(statement.integer(at: 5)), sequences: first...last))
      }
      return ranges
    }
  }

  /// The greatest version that anything was written at; nil when nothing waits.
  func lastVersion() throws -> UInt64? {
    guard case .integer(let last)? = try connection.scalar("SELECT max(schema) FROM godwit_staged") else { return nil }
    return UInt64(bitPattern: last)
  }

  /// How many were written at a later version.
  func count(beyond version: UInt64) throws -> Int {
    let count = try connection.scalar(
      "SELECT count(*) FROM godwit_staged WHERE schema > ?", [.integer(Int64(version))])
    guard case .integer(let count)? = count else { return 0 }
    return Int(count)
  }

  /// By origin, the last that follows on what is applied, all its causes being applied or such ones themselves. What is
  /// set aside, or had seen another history, ends a range: nobody else need try it. Takes time in proportion to what
  /// waits, its contexts included.
  func withoutGaps(after applied: VersionVector, besides own: ReplicaID) throws -> VersionVector {
    var reach = WaitingReach(staged: self, applied: applied)
    var queue = try firsts().map(\.origin).filter { $0.replica != own }
    while let origin = queue.popLast() { queue += try reach.advance(origin) }
    return VersionVector(reach.ends)
  }

  /// Calls the body with what waits of an origin and is passed on, until it says that this is enough; with the context
  /// where that is stored.
  func forEachPassedOn(after dot: Dot, _ body: (SequenceNumber, VersionVector?) throws -> Bool) throws {
    let sql = """
      SELECT sequence, context FROM godwit_staged WHERE replica = ? AND incarnation = ? AND sequence > ?
      AND NOT flags & \(Self.keptBack) ORDER BY sequence
      """
    try connection.withStatement(sql) { statement in
      try statement.bind(dot.origin.columns + [.integer(Int64(dot.sequence.rawValue))])
      while try statement.step() {
        var reader = ByteReader(statement.blob(at: 1))
        let context = statement.isNull(at: 1) ? nil : try VersionVector(reading: &reader)
        guard try body(SequenceNumber(rawValue: UInt64(statement.integer(at: 0))), context) else { return }
      }
    }
  }

  func chain(at dot: Dot) throws -> ContentHash? {
    let sql = "SELECT chain FROM godwit_staged WHERE replica = ? AND incarnation = ? AND sequence = ?"
    guard
      case .blob(let bytes)? = try connection.scalar(sql, dot.origin.columns + [.integer(Int64(dot.sequence.rawValue))])
    else { return nil }
    return ContentHash(bytes: bytes)
  }
}
