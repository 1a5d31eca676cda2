import Foundation
import GodwitBase

extension Migrations {
  /// What migrations do to a database, or did.
  public struct Plan: Sendable {
    /// One migration.
    public struct Version: Sendable {
      /// Its number.
      public let version: Int
      /// Its name.
      public let name: String
      /// Whether older programs continue as before: all its steps are additions. Otherwise it is a barrier, and
      /// replicas that have not passed it hold back what is written after it until their programs are updated.
      public let isAddition: Bool
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
      /// Transactions that had waited for it and turned out to be unfit for the tables. They stay, and are tried again
      /// when their author sends them again.
      public let unfit: [MergeReport.Dropped]
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
    /// The version the tables have afterwards: beyond the migrations listed where additions of others followed on them.
    public let to: Int
    /// The migrations that ran, in order; empty when there was nothing to do.
    public let versions: [Version]
    /// Values that could not be kept exactly, all of them, in the order they were found.
    public let losses: [MigrationLoss]
  }
}

extension Migrations {
  /// Which migrations a database has, and which it only knows of.
  public struct Status: Sendable {
    /// One migration.
    public struct Entry: Sendable {
      /// Its number.
      public let version: Int
      /// Its name.
      public let name: String
      /// Whether it is an addition, which older programs need not know; otherwise a barrier.
      public let isAddition: Bool
      /// Its checksum, 64 hexadecimal digits.
      public let checksum: String
      /// In milliseconds since 1970 UTC.
      package let appliedAtMilliseconds: Int64?
      /// When it ran here; nil for one that only other replicas ran.
      public var appliedAt: Date? { appliedAtMilliseconds.map(Date.init(milliseconds:)) }
      /// The member with whose file it came first; nil for one that a program or a migration file brought.
      public let broughtBy: ReplicaID?
      /// Its steps in words.
      public let steps: [String]

      package init(
        version: Int, name: String, isAddition: Bool, checksum: String, appliedAt: Int64?, broughtBy: ReplicaID?,
        steps: [String]
      ) {
        self.version = version
        self.name = name
        self.isAddition = isAddition
        self.checksum = checksum
        appliedAtMilliseconds = appliedAt
        self.broughtBy = broughtBy
        self.steps = steps
      }
    }

    /// The version the tables have; 0 without migrations.
    public let version: Int
    /// All that is known, in order.
    public let migrations: [Entry]
    /// What waits for a version that has not run here; nil when nothing does.
    public let held: HeldVersion?

    package init(version: Int, migrations: [Entry], held: HeldVersion?) {
      self.version = version
      self.migrations = migrations
      self.held = held
    }
  }
}
