import GodwitBase
import GodwitCore
import GodwitStorage

/// What waits for a schema version that this database has not reached: the program has to be updated.
public struct HeldVersion: Sendable, Hashable {
  /// The version that all of it can be applied at.
  public let version: Int
  /// What its migration is called.
  public let name: String
  /// The member with whose file the migration came first.
  public let broughtBy: ReplicaID?
  /// How many transactions wait.
  public let transactions: Int
}

extension StagedTransactions {
  /// Nil when nothing waits for a version.
  package func held(beyond history: MigrationHistory) throws -> HeldVersion? {
    let count = try count(beyond: history.version)
    guard count > 0, let last = try lastVersion(),
      let migration = history.known.first(where: { $0.version == last })
    else { return nil }
    return HeldVersion(
      version: Int(last), name: migration.name,
      broughtBy: try MigrationHistory.bringer(of: migration.version, on: connection),
      transactions: count)
  }
}
