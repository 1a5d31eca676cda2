import Foundation
import GodwitBase
import GodwitEngine

extension Replica {
  /// Where a replica stands.
  public struct Status: Sendable {
    /// A synced table and its rows.
    public struct Table: Sendable {
      /// The table's name.
      public let name: String
      /// How many rows it has.
      public let rows: Int
    }

    /// How far an origin's transactions are applied.
    public struct Applied: Sendable {
      /// The replica that wrote them.
      public let replica: ReplicaID
      /// The highest contiguous sequence number.
      public let sequence: UInt64
    }

    /// An origin of which another member holds another history than this replica: its keys have signed both.
    public struct Fork: Sendable, Hashable {
      /// The replica that wrote both, on a machine that was cloned or by somebody who wants to part the group.
      public let replica: ReplicaID
      /// The first number known to stand for two transactions.
      public let sequence: UInt64
      /// The member whose latest file showed it.
      public let shownBy: ReplicaID
    }

    /// The replica's incarnation: a clone or a restored backup takes a new one by itself.
    public let incarnation: Incarnation.ID
    /// The group's tables.
    public let tables: [Table]
    /// What is applied of each origin.
    public let applied: [Applied]
    /// Transactions that wait for others, or for a migration.
    public let staged: Int
    /// The same by author, with their bytes.
    public let waiting: [MissingReport.Waiting]
    /// The version of the tables; 0 without migrations.
    public let schemaVersion: Int
    /// What of the waiting transactions waits for a schema version that this database has not reached: the program has
    /// to be updated. Nil when nothing does.
    public let heldVersion: HeldVersion?
    /// Entries in the conflict log that are not resolved.
    public let conflicts: Int
    /// Entries that the conflict log has dropped: the oldest of too many, and those that were pruned.
    public let prunedConflicts: Int
    /// Rows that are held back, or show NULL in place of a reference; see `Replica.History.limbo`.
    public let limbo: Int
    /// What must come before the waiting transactions can be applied.
    public let missing: [MergeReport.Missing]
    /// Own transactions that not all other active members are known to hold; all of them where there are no others.
    public let unsent: Int
    /// Members who state another state than this replica's for the same changes; see `MergeReport.Attention.differing`.
    public let differing: [ReplicaID]
    /// Where this replica and another member hold two histories of one origin, so that neither takes in what the other
    /// builds on its own, until one of the two takes over the other's state (`Replica.rejoin`).
    public let forks: [Fork]
    /// Members of which more than one incarnation may live: after a copy of a folder came into use, or a machine was
    /// put back by one. History is kept for each until a person says which has ended; see
    /// ``Replica/Members/end(_:of:)``.
    public let copied: [ReplicaID]
    /// The remotes, with what is wrong with them and what was found there.
    public let remotes: [Remote]
    /// When the tables were found to hold something else than was noted beside the keyring; nil for never. See
    /// ``Replica/Maintenance/acceptState()``.
    public let alteredAt: Date?
    /// Bytes of the database's pages, those in the write-ahead log included.
    public let databaseBytes: Int
    /// The SQLCipher version in use.
    public let cipherVersion: String
  }
}
