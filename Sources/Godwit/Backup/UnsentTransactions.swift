import GodwitBase
import GodwitKeys
import GodwitCore
import GodwitEngine
import GodwitStorage

/// What a replica wrote that is nowhere but in its database, as far as is known here (Specs/backup.md, "Restoring").
struct UnsentTransactions {
  private let origins: OriginTable
  /// What any of the others is known to hold.
  private let known: VersionVector

  /// - Parameter keyring: Of the replica, with its members.
  init(_ connection: Connection, _ keyring: KeyringContents, group: GroupID) throws {
    let log = try ChangeLog(connection)
    let incarnations = try KnownIncarnations(log, on: connection)
    origins = log.origins
    known = try Roster(group: group, trusted: keyring.roster).active.reduce(VersionVector()) { known, member in
      known.union(try incarnations.applied(by: member.identity.replica))
    }
  }

  /// How many of them another state lacks.
  func count(lackingIn other: VersionVector) -> Int {
    let held = origins.vector
    let elsewhere = known.union(other)
    return held.origins.filter { $0.replica == origins.own.replica }.reduce(0) { sum, origin in
      sum + Int(held[origin].rawValue - min(elsewhere[origin], held[origin]).rawValue)
    }
  }
}
