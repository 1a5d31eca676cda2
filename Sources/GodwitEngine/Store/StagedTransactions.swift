import GodwitBase
import GodwitCrypto
import GodwitKeys
import GodwitCore
import GodwitStorage

/// A transaction that waits for others, with its effective context and the chain its sender claims for it.
struct StagedTransaction {
  let record: TransactionRecord
  let context: VersionVector
  let chain: ContentHash
  /// Its author had seen another history of a forked origin, which the numbers in its context cannot distinguish from
  /// the one here. It waits until a file brings it whose sender holds what is here.
  var isForeign = false
  /// A process died while it was tried alone. It waits until its author sends it again, or it is dropped.
  var isSetAside = false
}

/// Transactions that came before their causes (`godwit_staged`), kept verbatim until those arrive.
package struct StagedTransactions {
  static let creation = """
    CREATE TABLE godwit_staged (replica BLOB NOT NULL, incarnation INTEGER NOT NULL, sequence INTEGER NOT NULL,
      chain BLOB NOT NULL, hlc INTEGER NOT NULL, schema INTEGER NOT NULL, size INTEGER NOT NULL,
      flags INTEGER NOT NULL, context BLOB, changes BLOB NOT NULL,
      PRIMARY KEY (replica, incarnation, sequence)) WITHOUT ROWID;
    CREATE INDEX godwit_staged_schema ON godwit_staged (schema);
    """

  let connection: Connection

  package init(connection: Connection) { self.connection = connection }

  /// What a row takes beside its change set and its context.
  static let rowByteCount = 128

  private static let statesContext: Int64 = 1
  private static let foreign: Int64 = 2
  private static let setAside: Int64 = 4
  /// Of those that are not passed on as being here.
  static let keptBack = foreign | setAside

  /// What it takes in the database.
  static func byteCount(_ staged: StagedTransaction, inheritsContext: Bool) -> Int {
    let context = inheritsContext ? 0 : 24 * staged.context.entries.count
    return rowByteCount + staged.record.changes.count + context
  }

  /// Keeps it, unless one of its number waits already; returns whether it is kept now.
  ///
  /// - Parameter inheritsContext: Whether the one before it waits with the same context, which is then stored there
  ///   alone.
  @discardableResult
  func add(_ staged: StagedTransaction, inheritsContext: Bool = false) throws -> Bool {
    var context = ByteWriter()
    staged.context.write(to: &context)
    let flags = (staged.record.context == nil ? 0 : Self.statesContext) | (staged.isForeign ? Self.foreign : 0)
    try connection.run(
      """
      INSERT OR IGNORE INTO godwit_staged (replica, incarnation, sequence, chain, hlc, schema, size, flags, context,
        changes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """,
      staged.record.dot.origin.columns + [
        .integer(Int64(staged.record.dot.sequence.rawValue)), .blob(staged.chain.bytes),
        .integer(Int64(staged.record.hlc.rawValue)), .integer(Int64(staged.record.schemaVersion)),
        .integer(Int64(Self.byteCount(staged, inheritsContext: inheritsContext))), .integer(flags),
        inheritsContext ? .null : .blob(context.bytes), .blob(staged.record.changes),
      ])
    return try connection.scalar("SELECT changes()") == .integer(1)
  }

  func contains(_ dot: Dot) throws -> Bool {
    try connection.scalar(
      "SELECT 1 FROM godwit_staged WHERE replica = ? AND incarnation = ? AND sequence = ?",
      dot.origin.columns + [.integer(Int64(dot.sequence.rawValue))]) != nil
  }

  /// - Parameter previous: The one before it, where that is at hand: its context need not be looked up then.
  func get(_ dot: Dot, after previous: StagedTransaction? = nil) throws -> StagedTransaction? {
    let sql = """
      SELECT chain, hlc, schema, context, flags, changes FROM godwit_staged
      WHERE replica = ? AND incarnation = ? AND sequence = ?
      """
    return try connection.withStatement(sql) { statement in
      try statement.bind(dot.origin.columns + [.integer(Int64(dot.sequence.rawValue))])
      guard try statement.step() else { return nil }
      var chain = ByteReader(statement.blob(at: 0))
      let context: VersionVector
      if statement.isNull(at: 3) {
        let isNext = previous.map { $0.record.dot.origin == dot.origin && $0.record.dot.sequence.next == dot.sequence }
        context = try isNext == true ? previous?.context ?? VersionVector() : self.context(before: dot)
      } else {
        var reader = ByteReader(statement.blob(at: 3))
        context = try VersionVector(reading: &reader)
      }
      let flags = statement.integer(at: 4)
      let record = TransactionRecord(
        dot: dot, hlc: HLC(rawValue: UInt64(bitPattern: statement.integer(at: 1))),
        schemaVersion: UInt64(bitPattern: statement.integer(at: 2)),
        context: flags & Self.statesContext != 0 ? context : nil, changes: statement.blob(at: 5))
      return StagedTransaction(
        record: record, context: context, chain: try ContentHash(reading: &chain),
        isForeign: flags & Self.foreign != 0, isSetAside: flags & Self.setAside != 0)
    }
  }

  /// The context stored with the nearest transaction before.
  private func context(before dot: Dot) throws -> VersionVector {
    let sql = """
      SELECT context FROM godwit_staged WHERE replica = ? AND incarnation = ? AND sequence < ? AND context IS NOT NULL
      ORDER BY sequence DESC LIMIT 1
      """
    let values = dot.origin.columns + [.integer(Int64(dot.sequence.rawValue))]
    guard case .blob(let bytes)? = try connection.scalar(sql, values) else {
      throw GodwitError(
        .damagedLog, "a waiting transaction has lost its context",
        hint: "drop what waits of its author, which the next files bring again: godwit missing --drop MEMBER")
    }
    var reader = ByteReader(bytes)
    return try VersionVector(reading: &reader)
  }

  /// The context that the nearest transaction states which does, up to this one and behind what is applied.
  func statedContext(through dot: Dot, after applied: SequenceNumber) throws -> VersionVector? {
    let sql = """
      SELECT context FROM godwit_staged
      WHERE replica = ? AND incarnation = ? AND sequence <= ? AND sequence > ? AND flags & \(Self.statesContext)
      ORDER BY sequence DESC LIMIT 1
      """
    let values = dot.origin.columns + [dot.sequence, applied].map { .integer(Int64($0.rawValue)) }
    guard case .blob(let bytes)? = try connection.scalar(sql, values) else { return nil }
    var reader = ByteReader(bytes)
    return try VersionVector(reading: &reader)
  }

  /// Sets aside those with these chains, which are not tried any more.
  func setAside(_ chains: [ContentHash]) throws {
    for chain in chains {
      try connection.run(
        "UPDATE godwit_staged SET flags = flags | \(Self.setAside) WHERE chain = ?", [.blob(chain.bytes)])
    }
  }

  /// Lets one that was set aside be tried again.
  func readmit(_ dot: Dot) throws {
    try connection.run(
      """
      UPDATE godwit_staged SET flags = flags & ~\(Self.setAside)
      WHERE replica = ? AND incarnation = ? AND sequence = ? AND flags & \(Self.setAside)
      """, dot.origin.columns + [.integer(Int64(dot.sequence.rawValue))])
  }

  func removeAll() throws { try connection.run("DELETE FROM godwit_staged") }

  /// Drops all that waits of a replica.
  package func remove(of replica: ReplicaID) throws {
    try connection.run(
      "DELETE FROM godwit_staged WHERE replica = ?", [Origin(replica: replica, incarnation: 0).columns[0]])
  }

  func remove(through dot: Dot) throws {
    // The next one may have its context from one that goes.
    let next = Dot(dot.origin, dot.sequence.next)
    if let staged = try get(next) {
      var context = ByteWriter()
      staged.context.write(to: &context)
      try connection.run(
        """
        UPDATE godwit_staged SET context = ? WHERE replica = ? AND incarnation = ? AND sequence = ? AND context IS NULL
        """, [.blob(context.bytes)] + next.origin.columns + [.integer(Int64(next.sequence.rawValue))])
    }
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

  /// Removes what waits beyond the ends of incarnations.
  package func removeBeyond(
    _ ends: [Origin: SequenceNumber]
  ) throws -> [(origin: Origin, sequences: ClosedRange<SequenceNumber>)] {
    try firsts().compactMap { first in
      try ends[first.origin].flatMap { try remove(of: first.origin, after: $0) }.map { (first.origin, $0) }
    }
  }

  package func count() throws -> Int {
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

  /// Up to where each origin must be held before what is waiting: gaps ahead of it, and what its contexts name.
  package func needed(held: VersionVector) throws -> [(origin: Origin, last: SequenceNumber)] {
    var needed: [Origin: SequenceNumber] = [:]
    for first in try firsts() {
      if first.sequence > held[first.origin].next {
        let gapEnd = SequenceNumber(rawValue: first.sequence.rawValue - 1)
        needed[first.origin] = max(needed[first.origin] ?? .none, gapEnd)
      }
      guard let staged = try get(first) else { continue }
      for entry in staged.context.entries where held[entry.origin] < entry.sequence {
        if try !contains(Dot(entry.origin, held[entry.origin].next)) {
          needed[entry.origin] = max(needed[entry.origin] ?? .none, entry.sequence)
        }
      }
    }
    return needed.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }
}
