import GodwitBase
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

  /// Throws `limitExceeded` where there is no proof.
  func requiredProof(of origin: Origin) throws -> HeadProof {
    if let proof = try proof(of: origin) { return proof }
    throw GodwitError(
      .limitExceeded, "nobody could be shown that the changes of \(origin.replica) are its own: too many of them wait",
      hint: "import what they wait for, or drop them: godwit missing")
  }
}
