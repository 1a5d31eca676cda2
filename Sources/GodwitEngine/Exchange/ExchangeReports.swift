import GodwitBase
import GodwitCore
import GodwitSyncFile

/// What an export wrote.
public struct ExportReport: Sendable {
  /// Transactions in the file.
  public let transactions: Int
  /// Whether the file carries the whole state, because some member lacks what has been forgotten here.
  public let isStateFile: Bool
  /// The members that can open it, this replica included.
  public let recipients: Int
  /// Bytes of the sealed file.
  public let bytes: Int
  /// The paths of the volumes it was cut into; none for a file in one piece.
  public package(set) var volumes: [String] = []
}

/// What an import did.
public struct MergeReport: Sendable {
  /// Transactions that an origin has written and that are not here yet.
  public struct Missing: Sendable, Hashable {
    /// The replica that wrote them.
    public let replica: ReplicaID
    /// The first and last sequence number.
    public let sequences: ClosedRange<UInt64>
  }

  /// An origin with two histories: the machine was cloned with all that distinguishes a copy from the original, and
  /// both wrote. The history held here stays. The other one is left out of the import, with what depends on it, and
  /// nothing is overwritten; a replica that meets its own fork writes under a new incarnation from then on.
  public struct Fork: Sendable, Hashable {
    /// The replica whose histories part.
    public let replica: ReplicaID
    /// The first sequence number known to stand for two different transactions.
    public let sequence: UInt64
  }

  /// Transactions that cannot be applied here, now or later. The rest of the file was. What depends on them waits.
  public struct LeftOut: Sendable, Hashable {
    /// Why.
    public enum Reason: String, Sendable {
      /// Their author had not seen what every member was known to hold, and which has been forgotten here since: it was
      /// removed meanwhile, or restored from an old backup. It has to rejoin (`Replica.rejoin(from:_:)`), and so has
      /// every other member that took them; its work is made anew then.
      case fenced
      /// They come after the end of their incarnation (`Replica.Members.incarnations`): the machine was replaced, or
      /// has rejoined and made its work anew.
      case ended
      /// Their author has not signed them: the file's sender, or who gave them to it, has changed or invented them.
      /// Another member, or a later file of the author's, brings the true ones.
      case unsigned
    }

    /// The replica that wrote them.
    public let replica: ReplicaID
    /// The first and last sequence number.
    public let sequences: ClosedRange<UInt64>
    /// Why they cannot be applied.
    public let reason: Reason

    /// What an import would report.
    public init(replica: ReplicaID, sequences: ClosedRange<UInt64>, reason: Reason) {
      self.replica = replica
      self.sequences = sequences
      self.reason = reason
    }
  }

  /// Transactions that do not wait any more, or were not kept to wait. They are not held, so they come again.
  public struct Dropped: Sendable, Hashable {
    /// Why.
    public enum Reason: String, Sendable {
      /// More may not wait: of their author, or in all (Specs/limits.md).
      case limit
      /// Their author is no active member.
      case removed
      /// Nobody can apply them.
      case unfit
    }

    /// The replica that wrote them.
    public let replica: ReplicaID
    /// The first and last sequence number.
    public let sequences: ClosedRange<UInt64>
    /// Why.
    public let reason: Reason
    /// What applying them failed with.
    public let message: String?
  }

  /// The member that made the file.
  public let sender: ReplicaID
  /// Transactions applied, those that had been waiting included.
  public let applied: Int
  /// Transactions that were here already.
  public let duplicates: Int
  /// Transactions kept aside because others, or a migration, must come first.
  public let staged: Int
  /// Rows that the applied transactions touched.
  public let rows: Int
  /// Writes that lost to writes they had not seen; see `Replica.conflicts`.
  public let conflicts: Int
  /// Earlier entries that the conflict log has dropped for that, resolved ones first and then the oldest.
  public let prunedConflicts: Int
  /// What of the waiting transactions waits for a schema version that this database has not reached; nil when nothing
  /// does.
  public let held: HeldVersion?
  /// Values that migrations could not keep exactly on their way here; see `Replica.MigrationRoom.losses`.
  public let losses: Int
  /// Whether the file was a state file that replaced this replica's state, or that it was made from.
  public let isStateFile: Bool
  /// Rows that the state file brought.
  public let stateRows: Int
  /// Own transactions that were made anew on top of the state file's state.
  public let replayed: Int
  /// Whether the sender has forgotten what must come before the staged transactions, so that only a state file helps.
  public let needsStateFile: Bool
  /// What must come before the staged transactions can be applied.
  public let missing: [Missing]
  /// Origins whose transactions in the file are not those held here under the same numbers.
  public let forks: [Fork]
  /// What cannot be applied here.
  public let leftOut: [LeftOut]
  /// Who came into the group by the file, went, or is called otherwise, and by whom; this replica may be among them.
  public let members: [Member.Change]
  /// What does not wait any more, or was not kept to wait.
  public let dropped: [Dropped]
  /// Members who state another state than this replica's for the same changes: theirs or this one is damaged, or a rule
  /// of the schema is not deterministic. Nothing is refused for that; they are named until they state the same.
  public let differing: [ReplicaID]
}

extension MergeReport {
  /// With what came of trying what had waited.
  func adding(
    _ outcome: WaitingAttempt.Outcome, _ header: SyncFileHeader, on writer: ReplicaWriter
  ) throws -> MergeReport {
    let vector = writer.log.origins.vector
    let staged = StagedTransactions(connection: writer.connection)
    let missing = try staged.missing(held: vector)
    let parted = outcome.parted.sorted { $0.key < $1.key }
    return MergeReport(
      sender: sender, applied: applied + outcome.applied, duplicates: duplicates, staged: try staged.count(),
      rows: rows + outcome.rows, conflicts: conflicts + outcome.conflicts,
      prunedConflicts: prunedConflicts + outcome.prunedConflicts,
      held: try staged.held(beyond: MigrationHistory(writer.connection)),
      losses: losses, isStateFile: isStateFile, stateRows: stateRows, replayed: replayed,
      needsStateFile: !missing.isEmpty && !vector.covers(header.floor), missing: missing,
      forks: forks + parted.map { Fork(replica: $0.key.replica, sequence: $0.value.rawValue) },
      leftOut: leftOut + outcome.leftOut.sorted { $0.key < $1.key }.map(\.value), members: members,
      dropped: dropped + outcome.dropped,
      differing: try SignedAcknowledgements(connection: writer.connection).differing())
  }
}

extension StagedTransactions {
  /// Ranges that must come before what is waiting.
  package func missing(held: VersionVector) throws -> [MergeReport.Missing] {
    try needed(held: held).map { origin, last in
      MergeReport.Missing(replica: origin.replica, sequences: held[origin].next.rawValue...last.rawValue)
    }
  }
}
