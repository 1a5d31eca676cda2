import GodwitBase
import GodwitKeys
import GodwitReplication
import GodwitStorage

/// A transaction that waits for others, with its effective context and the chain its sender claims for it.
struct StagedTransaction {
  let record: TransactionRecord
  let context: VersionVector
  let chain: ContentHash
  /// Its author had seen another history of a forked origin, which the numbers in its context cannot tell from the
  /// one here. It waits until a file brings it whose sender holds what is here.
  var isForeign = false
}

/// Transactions that came before their causes (`godwit_staged`), kept verbatim until those arrive.
struct StagedTransactions {
  let connection: Connection

  func add(_ staged: StagedTransaction) throws {
    var context = ByteWriter()
    staged.context.write(to: &context)
    try connection.run(
      """
      INSERT OR IGNORE INTO godwit_staged (replica, incarnation, sequence, chain, hlc, schema, context, states_context,
        changes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
      """,
      staged.record.dot.origin.columns + [
        .integer(Int64(staged.record.dot.sequence.rawValue)), .blob(staged.chain.bytes),
        .integer(Int64(staged.record.hlc.rawValue)), .integer(Int64(staged.record.schemaVersion)),
        .blob(context.bytes), .integer((staged.record.context == nil ? 0 : 1) | (staged.isForeign ? 2 : 0)),
        .blob(staged.record.changes),
      ])
  }

  func get(_ dot: Dot) throws -> StagedTransaction? {
    let sql = """
      SELECT chain, hlc, schema, context, states_context, changes FROM godwit_staged
      WHERE replica = ? AND incarnation = ? AND sequence = ?
      """
    return try connection.withStatement(sql) { statement in
      try statement.bind(dot.origin.columns + [.integer(Int64(dot.sequence.rawValue))])
      guard try statement.step() else { return nil }
      var chain = ByteReader(statement.blob(at: 0))
      var contextReader = ByteReader(statement.blob(at: 3))
      let context = try VersionVector(reading: &contextReader)
      let record = TransactionRecord(
        dot: dot, hlc: HLC(rawValue: UInt64(bitPattern: statement.integer(at: 1))),
        schemaVersion: UInt64(bitPattern: statement.integer(at: 2)),
        context: statement.integer(at: 4) & 1 == 1 ? context : nil, changes: statement.blob(at: 5))
      return StagedTransaction(
        record: record, context: context, chain: try ContentHash(reading: &chain),
        isForeign: statement.integer(at: 4) & 2 != 0)
    }
  }

  func remove(through dot: Dot) throws {
    try connection.run(
      "DELETE FROM godwit_staged WHERE replica = ? AND incarnation = ? AND sequence <= ?",
      dot.origin.columns + [.integer(Int64(dot.sequence.rawValue))])
  }

  /// Removes what waits of an origin after a transaction; nil when nothing does.
  func remove(of origin: Origin, after sequence: SequenceNumber) throws -> ClosedRange<SequenceNumber>? {
    let condition = "FROM godwit_staged WHERE replica = ? AND incarnation = ? AND sequence > ?"
    let values = origin.columns + [.integer(Int64(sequence.rawValue))]
    let range = try connection.withStatement("SELECT min(sequence), max(sequence) \(condition)") { statement in
      try statement.bind(values)
      return try statement.step() && !statement.isNull(at: 0)
        ? UInt64(statement.integer(at: 0))...UInt64(statement.integer(at: 1)) : nil
    }
    guard let range else { return nil }
    try connection.run("DELETE \(condition)", values)
    return SequenceNumber(rawValue: range.lowerBound)...SequenceNumber(rawValue: range.upperBound)
  }

  func count() throws -> Int {
    guard case .integer(let count)? = try connection.scalar("SELECT count(*) FROM godwit_staged") else { return 0 }
    return Int(count)
  }

  /// The origins that have transactions waiting, and the first of each.
  func firsts() throws -> [Dot] {
    let sql = "SELECT replica, incarnation, min(sequence) FROM godwit_staged GROUP BY replica, incarnation"
    return try connection.withStatement(sql) { statement in
      var dots: [Dot] = []
      while try statement.step() {
        var reader = ByteReader(statement.blob(at: 0))
        let origin = Origin(
          replica: ReplicaID(try Identifier128(reading: &reader)),
          incarnation: UInt32(truncatingIfNeeded: statement.integer(at: 1)))
        dots.append(Dot(origin, SequenceNumber(rawValue: UInt64(statement.integer(at: 2)))))
      }
      return dots
    }
  }

  /// Ranges that must come before what is waiting.
  func missing(held: VersionVector) throws -> [MergeReport.Missing] {
    try needed(held: held).map { origin, last in
      MergeReport.Missing(replica: origin.replica, sequences: held[origin].next.rawValue...last.rawValue)
    }
  }

  /// Up to where each origin must be held before what is waiting: gaps ahead of it, and what its contexts name.
  func needed(held: VersionVector) throws -> [(origin: Origin, last: SequenceNumber)] {
    var needed: [Origin: SequenceNumber] = [:]
    for first in try firsts() {
      if first.sequence > held[first.origin].next {
        let gapEnd = SequenceNumber(rawValue: first.sequence.rawValue - 1)
        needed[first.origin] = max(needed[first.origin] ?? .none, gapEnd)
      }
      guard let staged = try get(first) else { continue }
      for entry in staged.context.entries where held[entry.origin] < entry.sequence {
        if try get(Dot(entry.origin, held[entry.origin].next)) == nil {
          needed[entry.origin] = max(needed[entry.origin] ?? .none, entry.sequence)
        }
      }
    }
    return needed.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }
}
