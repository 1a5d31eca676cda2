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

  /// By origin, the last that follows on what is applied, all its causes being applied or such ones themselves.
  func withoutGaps(after applied: VersionVector, besides own: ReplicaID) throws -> VersionVector {
    let firsts = try firsts().filter { $0.sequence == applied[$0.origin].next && $0.origin.replica != own }
    var ends = VersionVector(
      Dictionary(uniqueKeysWithValues: try firsts.map { ($0.origin, try lastWithoutGap(from: $0)) }))
    var isChanging = !firsts.isEmpty
    while isChanging {
      isChanging = false
      let present = applied.union(ends)
      for first in firsts where ends[first.origin] > .none {
        let before = try firstBeyond(present, from: first, through: ends[first.origin]).map {
          SequenceNumber(rawValue: $0.rawValue - 1)
        }
        guard let before else { continue }
        ends[first.origin] = before < first.sequence ? .none : before
        isChanging = true
      }
    }
    return ends
  }

  /// The first of a range whose context names something else than this.
  private func firstBeyond(
    _ present: VersionVector, from first: Dot, through last: SequenceNumber
  ) throws -> SequenceNumber? {
    let sql = """
      SELECT sequence, context FROM godwit_staged
      WHERE replica = ? AND incarnation = ? AND sequence BETWEEN ? AND ? AND context IS NOT NULL ORDER BY sequence
      """
    return try connection.withStatement(sql) { statement in
      try statement.bind(
        first.origin.columns + [.integer(Int64(first.sequence.rawValue)), .integer(Int64(last.rawValue))])
      while try statement.step() {
        var reader = ByteReader(statement.blob(at: 1))
        if try !present.covers(VersionVector(reading: &reader)) {
          return SequenceNumber(rawValue: UInt64(statement.integer(at: 0)))
        }
      }
      return nil
    }
  }

  /// The last one that waits behind this one without a gap.
  private func lastWithoutGap(from first: Dot) throws -> SequenceNumber {
    let sql =
      "SELECT sequence FROM godwit_staged WHERE replica = ? AND incarnation = ? AND sequence >= ? ORDER BY sequence"
    return try connection.withStatement(sql) { statement in
      try statement.bind(first.origin.columns + [.integer(Int64(first.sequence.rawValue))])
      var last = first.sequence
      while try statement.step() {
        let sequence = SequenceNumber(rawValue: UInt64(statement.integer(at: 0)))
        guard sequence <= last.next else { break }
        last = sequence
      }
      return last
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
