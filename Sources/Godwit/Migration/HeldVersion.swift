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
  func held(beyond history: MigrationHistory) throws -> HeldVersion? {
    let sql = "SELECT count(*), max(schema) FROM godwit_staged WHERE schema > ?"
    let (count, last) = try connection.withStatement(sql) { statement in
      try statement.bind([.integer(Int64(history.version))])
      return try statement.step() ? (Int(statement.integer(at: 0)), Int(statement.integer(at: 1))) : (0, 0)
    }
    guard count > 0, let migration = history.known.first(where: { $0.version == UInt64(last) }) else { return nil }
    return HeldVersion(
      version: last, name: migration.name,
      broughtBy: try MigrationHistory.bringer(of: migration.version, on: connection),
      transactions: count)
  }
}
