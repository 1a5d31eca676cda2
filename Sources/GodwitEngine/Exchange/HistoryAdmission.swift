import GodwitBase
import GodwitCrypto
import GodwitKeys
import GodwitCore
import GodwitSyncFile

/// Which histories in a file their authors have signed. A member vouches for a file, and for nobody else's history: of
/// an origin whose head is not its author's nothing is taken in (Specs/sync-file.md, "Signed heads").
package struct HistoryAdmission {
  private let roster: Roster
  /// The origins of which the file has something that their authors have not signed.
  package private(set) var refused: Set<Origin> = []
  /// Of each origin the transactions of a range that are not applied: what comes before them, and their digests.
  private var passedOver: [Origin: (base: SequenceNumber, digests: [ContentHash])] = [:]

  /// - Parameter roster: With what the file says of members, so that authors are known whom only the sender has met.
  package init(_ header: SyncFileHeader, _ roster: Roster) {
    self.roster = roster
    for head in header.ranges.map(\.head) + (header.stateFile?.origins ?? []).map(\.head) where !isSigned(head) {
      refused.insert(head.origin)
    }
  }

  /// Whether an author has signed this head, with any key it has had.
  func isSigned(_ head: SignedHead) -> Bool {
    return roster[head.origin.replica].map { head.isSigned(by: $0.history, in: roster.group) } ?? false
  }

  /// Throws `invalidSignature` for a state file with a history that its author has not signed: a state cannot be taken
  /// in without what it was made of.
  package func requireAll(of header: SyncFileHeader) throws {
    guard let origin = refused.min() else { return }
    let (author, sender) = (roster[origin.replica]?.name, roster[header.sender]?.name)
    throw GodwitError(
      .invalidSignature,
      "the state file has changes of \(author ?? "\(origin.replica)") that their author has not signed",
      hint: "nothing was changed; \(sender ?? "its sender"), or who gave them to it, changed or invented them: "
        + "ask another member for a state file")
  }

  /// Whether the file shows that its sender holds more of the own origin than is held here, by what this replica has
  /// signed itself: anybody can say so.
  func showsMore(of own: Origin, than held: VersionVector, in header: SyncFileHeader) -> Bool {
    let range = header.ranges.first { $0.origin == own }
    let last = max(header.vector[own], range?.last ?? .none)
    guard last > held[own] else { return false }
    if header.sender == own.replica { return true }
    // The file may end before what the sender holds; the head that proves its range does not.
    if let range { return !refused.contains(own) && range.head.sequence > held[own] }
    if header.stateFile?.origins.contains(where: { $0.origin == own }) == true { return !refused.contains(own) }
    guard let claim = header.chains[own], let proof = claim.proof else { return false }
    return isSigned(proof.head(of: own, last, claim.chain))
  }

  /// Takes note of a transaction that is not applied now.
  mutating func passOver(_ dot: Dot, _ digest: ContentHash) {
    let before = SequenceNumber(rawValue: dot.sequence.rawValue - 1)
    passedOver[dot.origin, default: (before, [])].digests.append(digest)
  }

  /// Keeps the heads of what was taken in.
  func keep(_ header: SyncFileHeader, held: OriginTable, besides parted: Set<Origin>, in heads: SignedHeads) throws {
    for origin in header.stateFile?.origins ?? []
    where !refused.contains(origin.origin) && !parted.contains(origin.origin) {
      try keep(origin.head, origin.proof, after: origin.sequence, held: held, in: heads)
    }
    for range in header.ranges where !refused.contains(range.origin) && !parted.contains(range.origin) {
      try keep(range.head, range.proof, after: range.last, held: held, in: heads)
    }
  }

  private func keep(
    _ head: SignedHead, _ proof: HeadProof, after last: SequenceNumber, held: OriginTable, in heads: SignedHeads
  ) throws {
    let passed = passedOver[head.origin]
    try heads.keep(
      head, after: passed?.base ?? last, ahead: (passed?.digests ?? []) + proof.ahead,
      held: try held.head(of: head.origin))
  }
}
