import GodwitBase
import GodwitCore
import GodwitCrypto
import GodwitKeys
import GodwitSyncFile

/// A member of a fleet that has keys and no replica: it writes the files that a replica would, with the product's own
/// writer.
struct FleetMember {
  let identity: Identity
  private let group: GroupID
  private var origin: Origin { Origin(replica: identity.replica, incarnation: 1) }
  private var written: [(record: TransactionRecord, chain: ContentHash)] = []
  /// What it had seen of others when it wrote the last one.
  private var context = VersionVector()
  private var acknowledgedAt: Int64 = 0

  init(_ identity: Identity, in group: GroupID) {
    self.identity = identity
    self.group = group
  }

  /// The name of its mailbox's origin.
  var mailbox: Origin { origin }

  /// Writes a transaction that had seen what a vector names.
  mutating func write(_ changes: [UInt8], upon seen: VersionVector, at milliseconds: Int64) {
    let before = context
    context = seen.replacing([origin: .none])
    let sequence = SequenceNumber(rawValue: UInt64(written.count) + 1)
    let record = TransactionRecord(
      dot: Dot(origin, sequence), hlc: HLC(milliseconds: milliseconds), schemaVersion: 0,
      context: written.isEmpty || context != before ? context : nil, changes: changes)
    let chain = (written.last?.chain ?? .zero).followed(by: record.digest())
    written.append((record, chain))
  }

  /// Its mailbox with its transactions, which acknowledges all that another's header has.
  ///
  /// - Parameters:
  ///   - common: The header of a file that it has taken in.
  ///   - base: What to build on; nil for a whole header.
  mutating func file(after common: SyncFileHeader, on base: HeaderBase?, at milliseconds: Int64) throws -> [UInt8] {
    guard let last = written.last else { return [] }
    let sequence = last.record.dot.sequence
    let head = try SignedHead.issue(group: group, origin, sequence, last.chain, by: identity)
    // All that it has written: others say seldom that they hold it.
    let range = SyncFileHeader.Range(
      origin: origin, first: .none.next, last: sequence, chainBefore: .zero, chainAtEnd: last.chain,
      contextAtFirst: VersionVector(), proof: HeadProof(signature: head.signature))
    let vector = common.vector.replacing([origin: sequence])
    var chains = common.chains
    for range in common.ranges { chains[range.origin] = SyncFileHeader.Chain(range.chainAtEnd) }
    chains[origin] = SyncFileHeader.Chain(last.chain)
    acknowledgedAt = max(acknowledgedAt + 1, milliseconds)
    let acknowledgement = try SignedAcknowledgement.issue(
      group: group, incarnation: 1, at: acknowledgedAt, vector: vector,
      chains: SignedAcknowledgement.hash(vector) { chains[$0.origin]?.chain } ?? .zero,
      members: common.roster.statuses, ended: Set(common.ended.keys), by: identity)
    chains[origin] = nil
    let header = SyncFileHeader(
      group: group, sender: identity.replica, incarnation: 1, createdAt: acknowledgedAt, vector: vector,
      schemaVersion: common.schemaVersion, recipients: common.recipients, roster: common.roster,
      tables: common.tables, migrations: common.migrations, ranges: [range], chains: chains, ended: common.ended,
      acknowledgements: [acknowledgement])
    let sink = MemorySink()
    let writer = try SyncFileWriter(header, on: base, signedBy: identity, to: sink)
    for (record, _) in written { try writer.append(record) }
    try writer.finish()
    return sink.bytes
  }
}
