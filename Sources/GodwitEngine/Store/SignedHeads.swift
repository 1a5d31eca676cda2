import GodwitBase
import GodwitCrypto
import GodwitKeys
import GodwitCore
import GodwitStorage
import GodwitSyncFile

/// The heads that other authors have signed, by which what is held of them can be proven to a third (`godwit_head`;
/// Specs/change-log.md, "Signed heads").
///
/// A head that lies beyond what is held proves it together with the digests of the transactions in between, from `base`
/// on.
struct SignedHeads {
  static let creation = """
    CREATE TABLE godwit_head (replica BLOB NOT NULL, incarnation INTEGER NOT NULL, sequence INTEGER NOT NULL,
      chain BLOB NOT NULL, base INTEGER NOT NULL, signature BLOB NOT NULL, ahead BLOB NOT NULL,
      PRIMARY KEY (replica, incarnation, sequence, chain)) WITHOUT ROWID;
    """

  let connection: Connection

  /// Heads of one origin that wait for what comes before them.
  private static let waitingLimit = 16

  /// Keeps what proves an origin's history up to any transaction from `base` to the head, and drops what proves less:
  /// of one head that came twice what begins further back proves more.
  ///
  /// - Parameters:
  ///   - head: As its author signed it.
  ///   - base: The last transaction before those that `ahead` has the digests of.
  ///   - ahead: Of the transactions behind `base`, up to the head.
  ///   - held: How far the origin is held.
  func keep(_ head: SignedHead, after base: SequenceNumber, ahead: [ContentHash], held: OriginTable.Head) throws {
    guard head.sequence >= held.sequence else { return }
    // A header does not carry more digests; at the head itself none is needed.
    let (base, ahead) = ahead.count <= HeadProof.aheadLimit ? (base, ahead) : (head.sequence, [])
    let key = head.origin.columns + [.integer(Int64(head.sequence.rawValue)), .blob(head.chain.bytes)]
    let kept = "SELECT base FROM godwit_head WHERE replica = ? AND incarnation = ? AND sequence = ? AND chain = ?"
    if case .integer(let before)? = try connection.scalar(kept, key), before <= Int64(base.rawValue) {
      return try prune(held)
    }
    try connection.run(
      """
      INSERT OR REPLACE INTO godwit_head (replica, incarnation, sequence, chain, base, signature, ahead)
      VALUES (?, ?, ?, ?, ?, ?, ?)
      """,
      key + [.integer(Int64(base.rawValue)), .blob(head.signature), .blob(ahead.flatMap(\.bytes))])
    try prune(held)
  }

  /// The heads that lie beyond what is held, the furthest first.
  func beyond(_ held: Dot) throws -> [(sequence: SequenceNumber, chain: ContentHash, signature: [UInt8])] {
    let sql = """
      SELECT sequence, chain, signature FROM godwit_head WHERE replica = ? AND incarnation = ? AND sequence > ?
      ORDER BY sequence DESC
      """
    return try connection.withStatement(sql) { statement in
      try statement.bind(held.origin.columns + [.integer(Int64(held.sequence.rawValue))])
      var found: [(SequenceNumber, ContentHash, [UInt8])] = []
      while try statement.step() {
        var chain = ByteReader(statement.blob(at: 1))
        let sequence = SequenceNumber(rawValue: UInt64(statement.integer(at: 0)))
        found.append((sequence, try ContentHash(reading: &chain), statement.blob(at: 2)))
      }
      return found
    }
  }

  /// What proves all that is held of an origin; nil where nothing does.
  func proof(of held: OriginTable.Head) throws -> HeadProof? {
    try reaching(held).first { $0.fits }?.proof
  }

  /// The heads that begin at or before what is held and reach it, the nearest first, and whether it leads to them: of
  /// an author that has signed two histories some may be of the other one.
  private func reaching(
    _ held: OriginTable.Head
  ) throws -> [(sequence: SequenceNumber, chain: ContentHash, proof: HeadProof, fits: Bool)] {
    let sql = """
      SELECT sequence, chain, base, signature, ahead FROM godwit_head
      WHERE replica = ? AND incarnation = ? AND base <= ? AND sequence >= ? ORDER BY sequence, chain
      """
    let place = Value.integer(Int64(held.sequence.rawValue))
    return try connection.withStatement(sql) { statement in
      try statement.bind(held.origin.columns + [place, place])
      var found: [(SequenceNumber, ContentHash, HeadProof, Bool)] = []
      while try statement.step() {
        var chain = ByteReader(statement.blob(at: 1))
        var digests = ByteReader(statement.blob(at: 4))
        var ahead: [ContentHash] = []
        while !digests.isAtEnd { ahead.append(try ContentHash(reading: &digests)) }
        let passed = Int(held.sequence.rawValue) - Int(statement.integer(at: 2))
        let proof = HeadProof(ahead: Array(ahead.dropFirst(passed)), signature: statement.blob(at: 3))
        let signed = SequenceNumber(rawValue: UInt64(statement.integer(at: 0)))
        let head = proof.head(of: held.origin, held.sequence, held.chain)
        let signedChain = try ContentHash(reading: &chain)
        found.append((signed, signedChain, proof, head.sequence == signed && head.chain == signedChain))
      }
      return found
    }
  }

  /// Of the heads that prove what is held the furthest stays, and of those that wait the nearest; those of another
  /// history than the one that is held go.
  private func prune(_ held: OriginTable.Head) throws {
    let place = Value.integer(Int64(held.sequence.rawValue))
    let (of, key) = ("replica = ?1 AND incarnation = ?2", held.origin.columns)
    let furthest = try reaching(held).last { $0.fits }
    try connection.run(
      "DELETE FROM godwit_head WHERE \(of) AND base <= ?3 AND NOT (sequence = ?4 AND chain = ?5)",
      key + [
        place, .integer(Int64(furthest?.sequence.rawValue ?? 0)), .blob(furthest?.chain.bytes ?? []),
      ])
    try connection.run(
      """
      DELETE FROM godwit_head WHERE \(of) AND base > ?3 AND (sequence, chain) NOT IN (SELECT sequence, chain
        FROM godwit_head WHERE \(of) AND base > ?3 ORDER BY base LIMIT \(Self.waitingLimit))
      """, key + [place])
  }

  func removeAll() throws { try connection.run("DELETE FROM godwit_head") }
}
