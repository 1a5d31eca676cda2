import GodwitReplication
import GodwitStorage

/// Who a replica is and what it holds.
package struct Standing: Hashable, Sendable {
  package let own: Origin
  package let held: VersionVector
  /// Up to where its log is forgotten.
  package let floor: VersionVector
  /// The timestamp of the latest own transaction.
  package let latest: HLC
}

extension Replica {
  /// Where the replica stands, for a simulation to compare with what it must hold.
  package func standing() async throws -> Standing {
    try await pool.read { connection in
      let origins = try OriginTable(connection)
      return Standing(own: origins.own, held: origins.vector, floor: origins.floor, latest: origins.ownLatest)
    }
  }
}
