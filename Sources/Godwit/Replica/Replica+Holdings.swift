import GodwitBase
import GodwitCore
import GodwitEngine
import GodwitStorage

extension Replica {
  /// What is held here, and what of that the other active members are known to hold.
  package struct Holdings: Sendable {
    /// The last transaction of an origin that is held here.
    package struct Version: Sendable {
      package let replica: ReplicaID
      package let incarnation: Incarnation.ID
      package let sequence: UInt64
    }

    /// In the order of replicas and incarnations.
    package let versions: [Version]
    /// For each other active member, and in the order of the versions, how far it is known to hold them, at most as far
    /// as they are held here.
    package let known: [ReplicaID: [UInt64]]

    /// How many transactions that are held here a member is not known to hold.
    package func lag(of member: ReplicaID) -> Int {
      zip(versions, known[member] ?? []).reduce(0) { $0 + Int($1.0.sequence - $1.1) }
    }
  }

  /// What the other active members are known to hold of what is held here. Takes time and memory for members times
  /// origins.
  package func holdings() async throws -> Holdings {
    let (versions, known) = try await forOthers { known, held in
      held.origins.map { min(known[$0], held[$0]).rawValue }
    }
    return Holdings(
      versions: versions.origins.map {
        Holdings.Version(
          replica: $0.replica, incarnation: $0.incarnationID, sequence: versions[$0].rawValue)
      }, known: known)
  }

  /// For each other active member how many of the transactions that are held here it is not known to hold.
  package func lags() async throws -> [ReplicaID: Int] {
    try await forOthers { known, held in
      held.origins.reduce(0) { $0 + Int(held[$1].rawValue - min(known[$1], held[$1]).rawValue) }
    }.results
  }

  /// What comes out of what each other active member is known to hold, and what is held here.
  private func forOthers<Result: Sendable>(
    _ body: @escaping @Sendable (_ known: VersionVector, _ held: VersionVector) -> Result
  ) async throws -> (held: VersionVector, results: [ReplicaID: Result]) {
    let members = try await members.list().filter { $0.isActive && !$0.isOwn }.map(\.identity.replica)
    return try await pool.read { connection in
      let log = try ChangeLog(connection)
      let held = log.origins.vector
      let incarnations = try KnownIncarnations(log, on: connection)
      return (held, try members.reduce(into: [:]) { $0[$1] = body(try incarnations.applied(by: $1), held) })
    }
  }
}
