import GodwitBase
import GodwitCore
import GodwitStorage

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
    /// sends them again, or they are dropped (`Replica.dropWaiting(of:)`).
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
  }

  /// What waits.
  public let waiting: [Waiting]
  /// What it waits for.
  public let missing: [Missing]
}

extension Replica {
  /// What waits for other transactions, for which, and who may have those.
  public func missing() async throws -> MissingReport {
    let members = Set(try await members().filter { $0.isActive && !$0.isOwn }.map(\.identity.replica))
    return try await pool.read { connection in
      let held = try OriginTable(connection).vector
      let staged = StagedTransactions(connection: connection)
      let said = try Acknowledgements(connection).records.filter { members.contains($0.key.replica) }
      let missing = try staged.needed(held: held).map { origin, last in
        var holders = Set(said.filter { $0.value.stated.vector[origin] >= last }.map(\.key.replica))
        if members.contains(origin.replica) { holders.insert(origin.replica) }
        return MissingReport.Missing(
          replica: origin.replica, sequences: held[origin].next.rawValue...last.rawValue, holders: holders.sorted())
      }
      return MissingReport(waiting: try staged.ranges(), missing: missing)
    }
  }
}

extension Replica {
  /// Drops what waits of a member. It is not held, so it comes again, if somebody has it.
  ///
  /// - Parameter name: What the member is called, its replica ID, or the first digits of that.
  /// - Returns: What was dropped, by incarnation.
  /// - Throws: `invalidArgument` when that is no member, or several; `busy`.
  @discardableResult
  public func dropWaiting(of name: String) async throws -> [MissingReport.Waiting] {
    let replica = try await member(named: name).identity.replica
    return try await withWriter { writer in
      try writer.inTransaction {
        let staged = StagedTransactions(connection: writer.connection)
        let dropped = try staged.ranges().filter { $0.replica == replica }
        try staged.remove(of: replica)
        return dropped
      }
    }
  }
}
