import GodwitBase
import GodwitKeys
import GodwitReplication
import GodwitStorage
import GodwitSyncFile

/// The heads that other authors have signed, by which what is held of them can be proven to a third (`godwit_head`;
/// Specs/change-log.md, "Signed heads").
///
/// A head that lies beyond what is held proves it together with the digests of the transactions in between, from `base` on.
struct SignedHeads {
  let connection: Connection

  /// Heads of one origin that wait for what comes before them.
  private static let waitingLimit = 16

  /// Keeps what proves an origin's history up to any transaction from `base` to the head, and lets go of what proves less.
  ///
  /// - Parameters:
  ///   - head: As its author signed it.
  ///   - base: The last transaction before those that `ahead` has the digests of.
  ///   - ahead: Of the transactions behind `base`, up to the head.
  ///   - held: How far the origin is held.
  func keep(_ head: SignedHead, after base: SequenceNumber, ahead: [ContentHash], held: SequenceNumber) throws {
    guard ahead.count <= HeadProof.aheadLimit, head.sequence >= held else { return }
    try connection.run(
      """
      INSERT OR REPLACE INTO godwit_head (replica, incarnation, sequence, base, signature, ahead) VALUES (?, ?, ?, ?, ?, ?)
      """,
      head.origin.columns + [
        .integer(Int64(head.sequence.rawValue)), .integer(Int64(base.rawValue)), .blob(head.signature),
        .blob(ahead.flatMap(\.bytes)),
      ])
    try prune(head.origin, held: held)
  }

  /// What proves all that is held of an origin; nil where nothing does.
  func proof(of origin: Origin, at held: SequenceNumber) throws -> HeadProof? {
    let sql = """
      SELECT base, signature, ahead FROM godwit_head
      WHERE replica = ? AND incarnation = ? AND base <= ? AND sequence >= ? ORDER BY sequence LIMIT 1
      """
    let place = Value.integer(Int64(held.rawValue))
    return try connection.withStatement(sql) { statement in
      try statement.bind(origin.columns + [place, place])
      guard try statement.step() else { return nil }
      let passed = Int(held.rawValue) - Int(statement.integer(at: 0))
      var reader = ByteReader(statement.blob(at: 2))
      var ahead: [ContentHash] = []
      while !reader.isAtEnd { ahead.append(try ContentHash(reading: &reader)) }
      return HeadProof(ahead: Array(ahead.dropFirst(passed)), signature: statement.blob(at: 1))
    }
  }

  /// Of the heads that prove what is held the furthest stays, and of those that wait the nearest.
  private func prune(_ origin: Origin, held: SequenceNumber) throws {
    let place = Value.integer(Int64(held.rawValue))
    let (of, key) = ("replica = ?1 AND incarnation = ?2", origin.columns)
    try connection.run(
      """
      DELETE FROM godwit_head WHERE \(of) AND base <= ?3
        AND sequence < (SELECT max(sequence) FROM godwit_head WHERE \(of) AND base <= ?3)
      """, key + [place])
    try connection.run(
      """
      DELETE FROM godwit_head WHERE \(of) AND base > ?3 AND sequence NOT IN (SELECT sequence FROM godwit_head
        WHERE \(of) AND base > ?3 ORDER BY base LIMIT \(Self.waitingLimit))
      """, key + [place])
  }
}
