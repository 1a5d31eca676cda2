import GodwitBase

/// What waits for other transactions, and who may have those.
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
  /// What it waits for.
  public let missing: [Missing]

  package init(waiting: [Waiting], missing: [Missing]) {
    self.waiting = waiting
    self.missing = missing
  }
}
