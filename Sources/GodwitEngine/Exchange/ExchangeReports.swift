import GodwitBase
import GodwitCore
import GodwitSyncFile

/// What an export wrote.
public struct ExportReport: Sendable {
  /// Transactions in the file, or in all files together.
  public let transactions: Int
  /// Whether the file carries the whole state, because some member lacks what has been forgotten here.
  public let isStateFile: Bool
  /// The members that can open it, this replica included.
  public let recipients: Int
  /// Bytes of the sealed file, or of all files together.
  public let bytes: Int
  /// The files, in the order in which they follow on each other; none on the standard output.
  public package(set) var files: [File] = []
  /// Files that an earlier export may have left under names that this one would have given next. They are ordinary sync
  /// files, which do no harm when they are imported, and no part of this export.
  public package(set) var earlierFiles: [String] = []
  /// The transactions themselves, where they are in one file; of a state all that it holds.
  package var ranges = OriginRanges()

  /// Both as one.
  package func followed(by next: ExportReport) -> ExportReport {
    ExportReport(
      transactions: transactions + next.transactions, isStateFile: isStateFile, recipients: next.recipients,
      bytes: bytes + next.bytes)
  }
}

extension ExportReport {
  /// One sync file of an export.
  public struct File: Sendable, Hashable {
    /// Where it is.
    public let path: String
    /// Transactions in it.
    public let transactions: Int
    /// Its size.
    public let bytes: Int
    /// Whether it is larger than what was asked for: it holds a single transaction or a state, or what another member
    /// has signed in one go, which cannot be cut.
    public let exceedsLimit: Bool

    package init(path: String, transactions: Int, bytes: Int, exceedsLimit: Bool) {
      self.path = path
      self.transactions = transactions
      self.bytes = bytes
      self.exceedsLimit = exceedsLimit
    }
  }
}

/// What an import did: what of the file was applied, what waits for something else, and what a person has to look at.
public struct MergeReport: Sendable {
  /// The member that made the file.
  public let sender: ReplicaID
  /// What was applied.
  public let applied: Applied
  /// What waits. Another import or a migration applies it by itself; nobody has to do anything but that.
  public let waiting: Waiting
  /// What a person has to look at, or the program in their place.
  public let attention: Attention
}

extension MergeReport {
  /// What an import applied.
  public struct Applied: Sendable {
    /// Transactions, those that had been waiting included.
    public let transactions: Int
    /// Transactions of the file that were here already.
    public let duplicates: Int
    /// Rows that the transactions touched.
    public let rows: Int
    /// The state that was taken from the file; nil for a file without one, and for a replica that did not need it.
    public let state: State?
    /// Who came into the group by the file, went, or is called otherwise, and by whom; this replica may be among them.
    public let members: [Member.Change]
  }

  /// A whole state that was taken from a state file, in the place of this replica's or as its first.
  public struct State: Sendable, Hashable {
    /// Rows that it brought.
    public let rows: Int
    /// Own transactions that were made anew on top of it.
    public let replayed: Int
  }

  /// Transactions that are kept aside.
  public struct Waiting: Sendable {
    /// How many there are, because others, or a migration, must come first.
    public let transactions: Int
    /// Those of them that wait for a schema version that this database has not reached; nil when none does.
    public let held: HeldVersion?
    /// What must come before them.
    public let missing: [Missing]
  }

  /// What is not as it should be after an import. Nothing of it keeps the rest of the file from being applied.
  public struct Attention: Sendable {
    /// Writes that lost to writes they had not seen; see `Replica.conflicts`.
    public let conflicts: Int
    /// Earlier entries that the conflict log has dropped for those, resolved ones first and then the oldest.
    public let prunedConflicts: Int
    /// Values that migrations could not keep exactly on their way here; see `Replica.MigrationRoom.losses`.
    public let losses: Int
    /// Replicas whose state is too old: they lack what the others hold and have forgotten. This one is among them when
    /// the sender has forgotten what must come before the waiting transactions.
    ///
    /// The way back is the same for each: a state file of another member's (`Replica.exportState(to:for:progress:)`),
    /// which it takes in by `Replica.rejoin(from:progress:)`. An import that can do nothing else throws `fenced`.
    public let fenced: [ReplicaID]
    /// Origins whose transactions in the file are not those held here under the same numbers.
    public let forks: [Fork]
    /// Transactions that cannot be applied here.
    public let leftOut: [LeftOut]
    /// Transactions that do not wait any more, or were not kept to wait.
    public let dropped: [Dropped]
    /// Members who state another state than this replica's for the same changes: theirs or this one is damaged, or a
    /// rule of the schema is not deterministic. Nothing is refused for that; they are named until they state the same.
    public let differing: [ReplicaID]

    /// Whether there is nothing to look at.
    public var isEmpty: Bool {
      conflicts == 0 && losses == 0 && fenced.isEmpty && forks.isEmpty && leftOut.isEmpty && dropped.isEmpty
        && differing.isEmpty
    }
  }
}

extension MergeReport {
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
      /// removed meanwhile, or restored from an old backup. It is in ``Attention/fenced``, and so is every other member
      /// that took them, once this replica imports from it.
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
}

extension MergeReport {
  /// With what came of trying what had waited.
  func adding(
    _ outcome: WaitingAttempt.Outcome, _ header: SyncFileHeader, on writer: ReplicaWriter
  ) throws -> MergeReport {
    let parted = outcome.parted.sorted { $0.key < $1.key }
    let waiting = try Waiting(on: writer)
    let leftOut = attention.leftOut + outcome.leftOut.sorted { $0.key < $1.key }.map(\.value)
    return MergeReport(
      sender: sender,
      applied: Applied(
        transactions: applied.transactions + outcome.applied, duplicates: applied.duplicates,
        rows: applied.rows + outcome.rows, state: applied.state, members: applied.members),
      waiting: waiting,
      attention: Attention(
        conflicts: attention.conflicts + outcome.conflicts,
        prunedConflicts: attention.prunedConflicts + outcome.prunedConflicts, losses: attention.losses,
        fenced: waiting.fenced(by: header, leftOut, on: writer),
        forks: attention.forks + parted.map { Fork(replica: $0.key.replica, sequence: $0.value.rawValue) },
        leftOut: leftOut, dropped: attention.dropped + outcome.dropped,
        differing: try SignedAcknowledgements(connection: writer.connection).differing()))
  }
}

extension MergeReport.State {
  init(_ outcome: StateImport.Outcome) {
    self.init(rows: outcome.rows.reduce(0) { $0 + $1.count }, replayed: outcome.replayed)
  }
}

extension MergeReport.Waiting {
  /// What waits in a writer's transaction.
  init(on writer: ReplicaWriter) throws {
    let staged = StagedTransactions(connection: writer.connection)
    transactions = try staged.count()
    held = try staged.held(beyond: MigrationHistory(writer.connection))
    missing = try staged.missing(held: writer.log.origins.vector)
  }

  /// Whose state is too old: this replica's, when the file's sender has forgotten what is missing here, and that of the
  /// authors who had not seen what is forgotten here.
  func fenced(
    by header: SyncFileHeader, _ leftOut: [MergeReport.LeftOut], on writer: ReplicaWriter
  ) -> [ReplicaID] {
    let origins = writer.log.origins
    let isTooOld = !missing.isEmpty && !origins.vector.covers(header.floor)
    let others = Set(leftOut.filter { $0.reason == .fenced }.map(\.replica)).subtracting([origins.own.replica])
    return (isTooOld ? [origins.own.replica] : []) + others.sorted()
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
