import GodwitBase

/// What waits for other transactions or for a schema version, and who may have those transactions.
public struct MissingReport: Sendable {
  /// Transactions of one origin that are here and wait.
  public struct Waiting: Sendable, Hashable {
    /// The replica that wrote them.
    public let replica: ReplicaID
    /// How many there are.
    public let transactions: Int
    /// What they take here, in bytes.
    public let bytes: Int
    /// How many of them are not tried any more: a process died while each of them was. They stay until their author
    /// sends them again, or they are dropped (`Replica.History.dropWaiting(of:)`).
    public let setAside: Int
    /// The first and last sequence number among them.
    public let sequences: ClosedRange<UInt64>
  }

  /// Transactions that must come before those that wait.
  public struct Missing: Sendable, Hashable {
    /// The replica that wrote them.
    public let replica: ReplicaID
    /// The first and last sequence number.
    public let sequences: ClosedRange<UInt64>
    /// The active members that have said to hold all of them, and their author, when it is one.
    public let holders: [ReplicaID]

    package init(replica: ReplicaID, sequences: ClosedRange<UInt64>, holders: [ReplicaID]) {
      self.replica = replica
      self.sequences = sequences
      self.holders = holders
    }
  }

  /// What waits.
  public let waiting: [Waiting]
  /// The schema version that some of it waits for: the program has to be updated. Nil when none does.
  public let heldVersion: HeldVersion?
  /// Which transactions must come before the rest.
  public let missing: [Missing]

  package init(waiting: [Waiting], heldVersion: HeldVersion?, missing: [Missing]) {
    self.waiting = waiting
    self.heldVersion = heldVersion
    self.missing = missing
  }
}
