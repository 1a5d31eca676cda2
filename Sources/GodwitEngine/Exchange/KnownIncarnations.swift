import GodwitBase
import GodwitKeys
import GodwitCore
import GodwitStorage

/// The members' incarnations as far as they are known here: by their transactions, or by what they said of themselves.
/// A copy that nobody knows of is none of them.
package struct KnownIncarnations {
  package let records: [Origin: Acknowledgements.Record]
  /// All of them, in the order of members and incarnations.
  package let all: [Origin]
  private let byReplica: [ReplicaID: [Origin]]
  private let log: ChangeLog
  private var own: Origin { log.origins.own }

  /// - Parameter known: The acknowledgements that were read before.
  package init(
    _ log: ChangeLog, on connection: Connection, _ known: KnownAcknowledgements = .init()
  ) throws {
    try self.init(log, Acknowledgements(connection, known).records, on: connection)
  }

  init(_ log: ChangeLog, _ records: [Origin: Acknowledgements.Record], on connection: Connection) throws {
    self.log = log
    self.records = records
    let signed = try SignedAcknowledgements(connection: connection).origins()
    all = Set(log.origins.all + records.keys + signed).union([log.origins.own]).sorted()
    byReplica = Dictionary(grouping: all, by: \.replica)
  }

  /// Those of a member other than the one that writes here. A member of which none is known to live has one that has
  /// not spoken yet, and counts as holding nothing.
  private func others(of replica: ReplicaID) -> [Origin] {
    let known = byReplica[replica, default: []].filter { $0 != own }
    let ended = log.origins.ended
    guard replica != own.replica, known.allSatisfy({ ended[$0] != nil }) else { return known }
    return known + [Origin(replica: replica, incarnation: 0)]
  }

  /// Those that write on, as far as is known.
  func living(of replica: ReplicaID) -> [Origin] {
    let ended = log.origins.ended
    return others(of: replica).filter { ended[$0] == nil }
  }

  /// Those whose acknowledgements count for the frontier. One that has ended, or whose member was removed, continues to
  /// count until all that could pass on what it wrote have said that they know: by then they hold all of it that they
  /// ever will. Of an ended one it must be here, too.
  func counted(_ roster: Roster) -> [Origin] {
    let ended = log.origins.ended
    let held = log.origins.vector
    let removed = Set(roster.all.filter { !$0.isActive }.map(\.identity.replica))
    let members = roster.all.map(\.identity.replica)
    // Alone, it cannot distinguish a copy that lives on from a backup that was restored, and keeps nothing for either:
    // only for a copy of which it has an acknowledgement.
    let others = members.flatMap(others).filter { members.count > 1 || records[$0] != nil }
    let leaving = others.filter { removed.contains($0.replica) || ended[$0] != nil }
    let active = Set(others).subtracting(leaving)
    let certain = leaving.filter { origin in
      active.allSatisfy { knows($0, endOf: origin) }
        && (removed.contains(origin.replica) || ended[origin].map { held[origin] >= $0 } ?? false)
    }
    let uncertain = Set(leaving).subtracting(certain)
    let gone = Set(certain.filter { origin in uncertain.allSatisfy { knows($0, endOf: origin) } })
    return others.filter { !gone.contains($0) }
  }

  private func knows(_ origin: Origin, endOf other: Origin) -> Bool {
    records[origin]?.counted.knowsEnd(of: other) ?? false
  }

  /// What an incarnation holds for all that is known: what it has stated, and what it held at its latest transaction
  /// here, which a file by any other member says. Who states that transaction has stated that with it.
  func holding(_ stated: VersionVector?, of origin: Origin) throws -> VersionVector {
    let (stated, last) = (stated ?? VersionVector(), log.origins.vector[origin])
    guard last > stated[origin] else { return stated }
    return stated.union(try log.context(of: Dot(origin, last)))
  }

  /// What an incarnation is known to have.
  package struct Holding {
    package let applied: VersionVector
    /// With that, what waits there: a file for it may leave that out.
    package let present: VersionVector
  }

  /// Those that write on for a member. Of the own replica's copies only those count of which an acknowledgement came:
  /// most are backups that were restored.
  private func writing(for replica: ReplicaID) -> [Origin] {
    living(of: replica).filter { replica != own.replica || records[$0] != nil }
  }

  /// Whether more than one incarnation may write on for a member, so that history is kept for each.
  package func isCopied(_ replica: ReplicaID) -> Bool {
    writing(for: replica).count + (replica == own.replica ? 1 : 0) > 1
  }

  /// What each that writes on for a member is known to have.
  ///
  /// - Parameter speaker: The one that is asked about, if it is among them; nil for all.
  package func holdings(of replica: ReplicaID, at speaker: Origin? = nil) throws -> [Holding] {
    let living = writing(for: replica)
    let asked = living.filter { $0 == speaker }
    return try (asked.isEmpty ? living : asked).map { origin in
      let record = records[origin]
      let applied = try holding(record?.stated.vector, of: origin)
      return Holding(applied: applied, present: applied.union(record?.held ?? VersionVector()))
    }
  }

  /// Since when some other member says that it holds what is not here, in milliseconds since 1970 UTC by its clock; nil
  /// when none does. Of a member that was set back, the last word counts: what it had said before may be lost with its
  /// machine. What comes after the end of its incarnation nobody takes.
  ///
  /// - Parameter present: What is held or waits here.
  func lackedSince(_ roster: Roster, present: VersionVector) -> Int64? {
    let takeable = present.replacing(log.origins.ended.mapValues { _ in .limit })
    let others = roster.active.map(\.identity.replica).filter { $0 != own.replica }
    let latest = others.compactMap { replica in
      living(of: replica).compactMap { records[$0]?.stated }.max { $0.milliseconds < $1.milliseconds }
    }
    return latest.filter { !takeable.covers($0.vector) }.map(\.milliseconds).min()
  }

  /// What all that write on for a member are known to have applied; nothing when none does.
  package func applied(by replica: ReplicaID) throws -> VersionVector {
    try holdings(of: replica).map(\.applied).intersection() ?? VersionVector()
  }
}
