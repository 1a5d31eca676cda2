import GodwitBase
import GodwitCrypto
import GodwitKeys
import GodwitCore

/// What a sync file says of itself before its transactions (Specs/sync-file.md, "Header").
package struct SyncFileHeader: Sendable {
  /// A run of one origin's transactions: what a reader needs to check the run against what it holds.
  package struct Range: Sendable {
    package let origin: Origin
    package let first: SequenceNumber
    package let last: SequenceNumber
    /// The origin's hash chain before `first` and at `last`.
    package let chainBefore: ContentHash
    package let chainAtEnd: ContentHash
    /// What the origin held when it wrote `first`, whether that says so or inherits it; nothing where `first` is 1,
    /// which inherits nothing.
    package let contextAtFirst: VersionVector
    /// That the origin's author has written all of it.
    package let proof: HeadProof

    package init(
      origin: Origin, first: SequenceNumber, last: SequenceNumber, chainBefore: ContentHash, chainAtEnd: ContentHash,
      contextAtFirst: VersionVector, proof: HeadProof
    ) {
      self.origin = origin
      self.first = first
      self.last = last
      self.chainBefore = chainBefore
      self.chainAtEnd = chainAtEnd
      self.contextAtFirst = contextAtFirst
      self.proof = proof
    }

    /// The head that its author is said to have signed.
    package var head: SignedHead { proof.head(of: origin, last, chainAtEnd) }
  }

  /// What the sender says of its chain of an origin that it sends nothing of.
  package struct Chain: Sendable, Equatable {
    package let chain: ContentHash
    /// Where the origin's own replica may not know it.
    package let proof: HeadProof?

    package init(_ chain: ContentHash, proof: HeadProof? = nil) {
      self.chain = chain
      self.proof = proof
    }
  }

  /// The incarnation that made the file.
  package var origin: Origin { Origin(replica: sender, incarnation: incarnation) }

  /// As the preamble has it.
  package let group: GroupID
  /// As the preamble has it.
  package let sender: ReplicaID
  /// The sender's incarnation: another one may hold less than the sender held before.
  package let incarnation: UInt32
  /// Milliseconds since 1970 UTC by the sender's clock.
  package let createdAt: Int64
  /// Everything that the sender has applied: its acknowledgement.
  package let vector: VersionVector
  /// Up to where the sender has, beyond that and without a gap, what waits there. It acknowledges nothing: it only need
  /// not be sent again.
  package let held: VersionVector
  /// Both together: what the file's transactions can have seen.
  package let present: VersionVector
  package let schemaVersion: UInt64
  /// Whom the file is sealed to, rising by their bytes and all of one kind, so that a re-wrapped file is noticed.
  package let recipients: [AgeRecipient]
  /// What the sender knows of the group's members, each record signed by who made it.
  package let roster: RosterRecords
  /// The synced tables as the sender has them.
  package let tables: [TableDefinition]
  /// The migrations that the sender has run, or that something waits for there, 1, 2, 3 …, in their canonical form.
  package let migrations: [[UInt8]]
  package let ranges: [Range]
  /// The chains of the origins in `vector` without a range: whether the reader holds the same under these numbers.
  package let chains: [Origin: Chain]

  /// Up to where the sender has forgotten the transactions of each origin.
  package let floor: VersionVector
  /// The incarnations that the sender knows to have ended, and the last transaction of each; 0 for one without any.
  package let ended: [Origin: SequenceNumber]
  /// Set when the file carries state in place of ranges.
  package let stateFile: StateHead?
  /// What the sender and others hold and know, signed by each; not checked by decoding.
  package let acknowledgements: [SignedAcknowledgement]
  /// The epoch that the file brings.
  package let epoch: EpochKey?
  /// What later versions say besides, rising by tag.
  package let fields: [SyncFileField]

  package init(
    group: GroupID, sender: ReplicaID, incarnation: UInt32, createdAt: Int64, vector: VersionVector,
    held: VersionVector = VersionVector(), schemaVersion: UInt64, recipients: [AgeRecipient], roster: RosterRecords,
    tables: [TableDefinition],
    migrations: [[UInt8]] = [], ranges: [Range], chains: [Origin: Chain],
    floor: VersionVector = VersionVector(), ended: [Origin: SequenceNumber] = [:], stateFile: StateHead? = nil,
    acknowledgements: [SignedAcknowledgement] = [], epoch: EpochKey? = nil, fields: [SyncFileField] = []
  ) {
    self.group = group
    self.sender = sender
    self.incarnation = incarnation
    self.createdAt = createdAt
    self.vector = vector
    self.held = held
    present = vector.union(held)
    self.schemaVersion = schemaVersion
    self.recipients = recipients
    self.roster = roster
    self.tables = tables
    self.migrations = migrations
    self.ranges = ranges
    self.chains = chains
    self.floor = floor
    self.ended = ended
    self.stateFile = stateFile
    self.acknowledgements = acknowledgements
    self.epoch = epoch
    self.fields = fields
  }

  /// The origins whose chains the header gives, rising.
  package static func originsWithoutRange(_ vector: VersionVector, _ ranges: [Range]) -> [Origin] {
    let ranged = Set(ranges.map(\.origin))
    return vector.origins.filter { !ranged.contains($0) }
  }

  package var transactionCount: Int {
    (stateFile?.transactionCount ?? 0) + ranges.reduce(0) { $0 + Int($1.last.rawValue - $1.first.rawValue) + 1 }
  }
}
