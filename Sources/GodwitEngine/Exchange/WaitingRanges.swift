import GodwitBase
import GodwitCrypto
import GodwitKeys
import GodwitCore
import GodwitStorage
import GodwitSyncFile

/// What waits here and follows on what is applied without a gap, for others: it is passed on under the same signed
/// heads (Specs/migrations.md, "Barriers hold").
struct WaitingRanges {
  /// Where what waits of an origin ends, and what shows that its author has written it.
  struct End {
    let last: SequenceNumber
    let chain: ContentHash
    let proof: HeadProof
  }

  private let staged: StagedTransactions
  /// By origin, the last that waits without a gap, neither before it nor among its causes.
  let held: VersionVector
  /// Up to where it can be shown to be its author's.
  let ends: [Origin: End]

  init(_ log: ChangeLog, besides own: ReplicaID, on connection: Connection) throws {
    let staged = StagedTransactions(connection: connection)
    self.staged = staged
    let applied = log.origins.vector
    held = try staged.withoutGaps(after: applied, besides: own)
    let heads = SignedHeads(connection: connection)
    ends = try held.entries.reduce(into: [:]) { ends, entry in
      for head in try heads.beyond(Dot(entry.origin, applied[entry.origin])) where head.sequence <= entry.sequence {
        guard try staged.chain(at: Dot(entry.origin, head.sequence)) == head.chain else { continue }
        ends[entry.origin] = End(last: head.sequence, chain: head.chain, proof: HeadProof(signature: head.signature))
        break
      }
    }
  }

  /// The chain and context of one that waits.
  func state(at dot: Dot) throws -> (chain: ContentHash, context: VersionVector)? {
    try staged.get(dot).map { ($0.chain, $0.context) }
  }

  /// What the author of one that waits had seen, as that transaction says itself, or the last before it that waits and
  /// says so.
  func statedContext(through dot: Dot, after applied: SequenceNumber) throws -> VersionVector? {
    try staged.statedContext(through: dot, after: applied)
  }

  /// Calls the body with what waits of an origin between two places.
  func forEach(
    of origin: Origin, after sent: SequenceNumber, through last: SequenceNumber,
    _ body: (TransactionRecord) throws -> Void
  ) throws {
    guard sent < last else { return }
    var previous: StagedTransaction?
    for number in sent.next.rawValue...last.rawValue {
      let dot = Dot(origin, SequenceNumber(rawValue: number))
      guard let next = try staged.get(dot, after: previous) else { return }
      try body(next.record)
      previous = next
    }
  }

  /// Calls the body with what waits in the ranges, each after its context as far as the file has that. `sent` is what
  /// comes before.
  func forEach(
    in ranges: [(origin: Origin, first: SequenceNumber, last: SequenceNumber)], after sent: VersionVector,
    _ body: (TransactionRecord) throws -> Void
  ) throws {
    var sent = sent
    var lanes: [(next: StagedTransaction, last: SequenceNumber)] = []
    for range in ranges {
      if let next = try staged.get(Dot(range.origin, range.first)) { lanes.append((next, range.last)) }
    }
    while !lanes.isEmpty {
      let place = lanes.firstIndex { sent.covers($0.next.context) } ?? 0
      let (transaction, last) = lanes[place]
      let dot = transaction.record.dot
      try body(transaction.record)
      sent[dot.origin] = max(sent[dot.origin], dot.sequence)
      if dot.sequence < last, let next = try staged.get(Dot(dot.origin, dot.sequence.next), after: transaction) {
        lanes[place].next = next
      } else {
        lanes.remove(at: place)
      }
    }
  }
}
