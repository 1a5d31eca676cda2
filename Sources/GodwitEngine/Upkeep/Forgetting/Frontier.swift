import GodwitBase
import GodwitKeys
import GodwitCore
import GodwitStorage

/// What every member is known to hold, so that whatever is still to come from any has seen it (Specs/forgetting.md,
/// "Frontier").
struct Frontier {
  let vector: VersionVector
  /// The earliest time, by their own clocks, of the latest acknowledgements of those that write on elsewhere; nil when
  /// there is none.
  let statedAt: Int64?

  /// - Parameter needsState: Whether this replica needs a state of another's.
  init(_ writer: ReplicaWriter, _ roster: Roster, needsState: Bool) throws {
    let (log, connection) = (writer.log, writer.connection)
    let incarnations = try KnownIncarnations(log, writer.withAcknowledgements { $0.records }, on: connection)
    let counted = incarnations.counted(roster)
    statedAt = counted.compactMap { incarnations.records[$0]?.stated.milliseconds }.min()
    // The state that is to replace what is held here may lack what would be forgotten.
    guard try !needsState && Self.knowsAllMembers(roster, on: connection) else {
      vector = log.origins.floor
      return
    }
    vector = try counted.reduce(into: log.origins.vector) { frontier, origin in
      frontier.formIntersection(try incarnations.holding(incarnations.records[origin]?.counted.vector, of: origin))
    }
  }

  /// Whether nobody is a member of whom others have said so and who is not known here yet: what another process imports
  /// is in the database before its members are in the keyring.
  private static func knowsAllMembers(_ roster: Roster, on connection: Connection) throws -> Bool {
    let known = Set(roster.all.map(\.identity.replica))
    return try known.isSuperset(of: SignedAcknowledgements(connection: connection).members())
  }
}
