import GodwitBase
import GodwitCrypto
import GodwitKeys
import GodwitCore
import GodwitStorage
import GodwitSyncFile

/// Shows that what is held of each origin is its author's: of the own replica's by signing it now, of others' by what
/// they have signed.
struct HistoryProver {
  private let identity: Identity
  private let group: GroupID
  private let log: ChangeLog
  private let heads: SignedHeads

  init(_ identity: Identity, group: GroupID, _ log: ChangeLog, on connection: Connection) {
    self.identity = identity
    self.group = group
    self.log = log
    heads = SignedHeads(connection: connection)
  }

  /// Nil where a part of what its author signed waits here, and is too long for a header.
  func proof(of origin: Origin) throws -> HeadProof? {
    let head = try log.origins.head(of: origin)
    guard origin.replica == identity.replica else { return try heads.proof(of: head) }
    return HeadProof(
      signature: try SignedHead.issue(group: group, origin, head.sequence, head.chain, by: identity).signature)
  }

  /// The same of what comes before a place within a range, by what proves the whole range.
  ///
  /// - Parameter chain: The chain at the place.
  func proof(
    of dot: Dot, _ chain: ContentHash, within range: SyncFileHeader.Range, _ waiting: WaitingRanges
  ) throws -> HeadProof {
    guard dot.origin.replica != identity.replica else {
      return HeadProof(
        signature: try SignedHead.issue(group: group, dot.origin, dot.sequence, chain, by: identity).signature)
    }
    var ahead: [ContentHash] = []
    let applied = log.origins.vector[dot.origin]
    if dot.sequence < applied {
      try log.forEach(of: dot.origin, after: dot.sequence, through: min(applied, range.last)) { record, _ in
        ahead.append(record.digest())
      }
    }
    try waiting.forEach(
      of: dot.origin, after: max(applied, dot.sequence), through: range.last
    ) { ahead.append($0.digest()) }
    return HeadProof(ahead: ahead + range.proof.ahead, signature: range.proof.signature)
  }

  /// Throws `limitExceeded` where there is no proof.
  func requiredProof(of origin: Origin) throws -> HeadProof {
    if let proof = try proof(of: origin) { return proof }
    throw GodwitError(
      .limitExceeded, "nobody could be shown that the changes of \(origin.replica) are its own: too many of them wait",
      hint: "import what they wait for, or drop them: godwit missing")
  }
}
