import GodwitBase
import GodwitKeys
import GodwitReplication
import GodwitStorage

/// What every member is known to hold, so that whatever is still to come from any has seen it (Specs/forgetting.md,
/// "Frontier").
struct Frontier {
  let vector: VersionVector
  /// Whether no other member can send anything any more.
  let isLone: Bool

  init(_ log: ChangeLog, _ roster: Roster, on connection: Connection) throws {
    let own = log.origins.own.replica
    let acknowledgements = Acknowledgements(connection: connection)
    let others = roster.sorted.map(\.identity.replica).filter { $0 != own }
    var records: [ReplicaID: Acknowledgements.Record] = [:]
    for replica in others { records[replica] = try acknowledgements.record(of: replica) }
    let counted = Self.counted(others, removed: Set(roster.sorted.filter { $0.status == .removed }.map(\.identity.replica))) {
      records[$0]?.countedRemoved ?? []
    }
    isLone = counted.isEmpty
    vector = try counted.reduce(log.origins.vector) { frontier, replica in
      let stated = records[replica]?.counted ?? VersionVector()
      return frontier.intersection(stated.union(try Self.implied(by: replica, in: log)))
    }
  }

  /// The members whose acknowledgements count. A removed one goes on counting until all that could pass on what it
  /// wrote have said that they know of its removal: by then they hold all of it that they ever will.
  private static func counted(
    _ others: [ReplicaID], removed: Set<ReplicaID>, known: (ReplicaID) -> Set<ReplicaID>
  ) -> [ReplicaID] {
    let active = others.filter { !removed.contains($0) }
    let knownToActive = removed.filter { replica in active.allSatisfy { known($0).contains(replica) } }
    let uncertain = removed.subtracting(knownToActive)
    let gone = knownToActive.filter { replica in uncertain.allSatisfy { known($0).contains(replica) } }
    return others.filter { !gone.contains($0) }
  }

  /// What a member held at its latest transaction here, of which a file by any other member tells. With several
  /// incarnations it is not known which of them writes on.
  static func implied(by replica: ReplicaID, in log: ChangeLog) throws -> VersionVector {
    let origins = log.origins.vector.origins.filter { $0.replica == replica }
    guard let origin = origins.first, origins.count == 1 else { return VersionVector() }
    return try log.context(of: Dot(origin, log.origins.head(of: origin).sequence))
  }
}
