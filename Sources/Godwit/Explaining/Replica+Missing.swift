import GodwitBase
import GodwitCore
import GodwitEngine
import GodwitStorage

extension Replica.History {
  /// What waits for other transactions or for a schema version, for which, and who may have those.
  public func missing() async throws -> MissingReport {
    let members = Set(try await replica.members.list().filter { $0.isActive && !$0.isOwn }.map(\.identity.replica))
    return try await replica.pool.read { connection in
      let applied = try OriginTable(connection).vector
      let staged = StagedTransactions(connection: connection)
      let said = try Acknowledgements(connection).records.filter { members.contains($0.key.replica) }
      let missing = try staged.needed(held: applied).map { origin, last in
        var holders = Set(said.filter { $0.value.stated.vector[origin] >= last }.map(\.key.replica))
        if members.contains(origin.replica) { holders.insert(origin.replica) }
        return MissingReport.Missing(
          replica: origin.replica, sequences: applied[origin].next.rawValue...last.rawValue, holders: holders.sorted())
      }
      return MissingReport(
        waiting: try staged.ranges(), heldVersion: try staged.held(beyond: MigrationHistory(connection)),
        missing: missing)
    }
  }

  /// Drops what waits of a member. It is not held, so it comes again, if somebody has it.
  ///
  /// - Parameter name: What the member is called, its replica ID, or the first digits of that.
  /// - Returns: What was dropped, by incarnation.
  /// - Throws: `invalidArgument` when that is no member, or several; `busy`.
  @discardableResult
  public func dropWaiting(of name: String) async throws -> [MissingReport.Waiting] {
    let author = try await replica.members.member(named: name).identity.replica
    return try await replica.withWriter { writer in
      try writer.inTransaction {
        let staged = StagedTransactions(connection: writer.connection)
        let dropped = try staged.ranges().filter { $0.replica == author }
        try staged.remove(of: author)
        try RemoteNotes(writer.connection).forgetTaken()
        return dropped
      }
    }
  }
}
