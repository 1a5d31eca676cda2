import GodwitBase

/// What migrations do to a database, or did.
public struct MigrationPlan: Sendable {
  /// One migration.
  public struct Version: Sendable {
    /// Its number.
    public let version: Int
    /// Its name.
    public let name: String
    /// The member with whose file it came first; nil for one that a program or a migration file brought.
    public let broughtBy: ReplicaID?
    /// Its steps in words.
    public let steps: [String]
    /// The tables whose rows were written anew.
    public let rebuilt: [RebuiltTable]
    /// Rows that its data steps inserted, updated or deleted in synced tables.
    public let written: Int
    /// Transactions of other replicas that had waited for it and are applied.
    public let released: Int
  }

  /// A table whose rows were written anew.
  public struct RebuiltTable: Sendable, Hashable {
    /// The table, as it is called afterwards.
    public let table: String
    /// How many rows it has.
    public let rows: Int
  }

  /// The version the tables had.
  public let from: Int
  /// The migrations that ran, in order; empty when there was nothing to do.
  public let versions: [Version]
  /// Values that could not be kept exactly, all of them, in the order they were found.
  public let losses: [MigrationLoss]

  /// The version the tables have afterwards.
  public var to: Int { versions.last?.version ?? from }
}

/// Which migrations a database has, and which it only knows of.
public struct MigrationStatus: Sendable {
  /// One migration.
  public struct Entry: Sendable {
    /// Its number.
    public let version: Int
    /// Its name.
    public let name: String
    /// Its checksum, 64 hexadecimal digits.
    public let checksum: String
    /// When it ran here, in milliseconds since 1970 UTC; nil for one that only other replicas ran.
    public let appliedAt: Int64?
    /// The member with whose file it came first; nil for one that a program or a migration file brought.
    public let broughtBy: ReplicaID?
    /// Its steps in words.
    public let steps: [String]
  }

  /// The version the tables have; 0 without migrations.
  public let version: Int
  /// All that is known, in order.
  public let migrations: [Entry]
  /// Transactions that wait, or parts of which wait, for a schema that is not here yet.
  public let quarantined: Int
  /// What they wait for, each once: `column stars of table note`.
  public let unknown: [String]
}
