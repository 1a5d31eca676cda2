import GodwitBase
import GodwitStorage

/// Godwit's own tables (Specs/change-log.md, "Tables"). User SQL can read but never write them.
package enum SystemTables {
  /// The layout's version, kept in `godwit_meta`; another one is refused.
  package static let formatVersion: Int64 = 9

  /// By their owners: each type is the only one with SQL on its tables.
  private static var creation: String {
    [
      Meta.creation, StoredTables.creation, OriginTable.creation, ChangeLog.creation, StagedTransactions.creation,
      SignedHeads.creation, RowStates.creation, Limbo.creation, ConflictLog.creation, Acknowledgements.creation,
      MigrationHistory.creation, LossLog.creation, AheadRows.creation, SignedAcknowledgements.creation,
      ConflictValues.creation, KnownForks.creation, RemoteNotes.creation,
      HeaderBases.creation,
    ].joined(separator: "\n")
  }

  /// Creates the tables in an empty database, unless another process was first.
  package static func create(
    on connection: Connection, group: GroupID, replica: ReplicaID, incarnations: IncarnationNumbers
  ) throws {
    try connection.writing {
      guard try !Meta.isThere(on: connection) else { return }
      try connection.execute(creation)
      try Meta.set(.format, .integer(formatVersion), on: connection)
      try Meta.set(.group, .text(group.description), on: connection)
      try Meta.set(.schemaVersion, .integer(0), on: connection)
      try Meta.set(.clock, .integer(0), on: connection)
      try OriginTable.addOwn(replica: replica, incarnations, on: connection)
    }
  }

  /// Throws `notADatabase` where there are no tables of Godwit's, `unsupportedVersion` for tables of another version,
  /// `otherGroup` for those of another group.
  package static func check(on connection: Connection, group: GroupID) throws {
    let meta: [Meta: Value]
    do {
      meta = try Meta.all(on: connection)
    } catch {
      guard try !Meta.isThere(on: connection) else { throw error }
      throw GodwitError(
        .notADatabase, "the database \(connection.path) has no tables of Godwit",
        hint: connection.wasEmpty ? "it is empty: open it for writing, which makes them" : "restore a backup")
    }
    let format = try meta.integer(.format)
    guard format == formatVersion else {
      throw GodwitError(
        .unsupportedVersion, "the database is of format \(format), and this program reads format \(formatVersion)",
        hint: format > formatVersion
          ? "update this program"
          : "export it as a plaintext database with the program that made it, and begin a new group from that")
    }
    guard meta[.group] == .text(group.description) else {
      throw GodwitError(.otherGroup, "the database and the keyring belong to different groups")
    }
  }

  /// Whether there is nothing but what opening a new replica makes.
  package static func areUntouched(on connection: Connection) throws -> Bool {
    let others = "SELECT 1 FROM sqlite_master WHERE substr(name, 1, 7) NOT IN ('godwit_', 'sqlite_') LIMIT 1"
    return try ChangeLog.count(on: connection, limit: 1) == 0 && OriginTable(connection).vector.isEmpty
      && StoredTables(connection).isEmpty && MigrationHistory(connection).known.isEmpty
      && StagedTransactions(connection: connection).count() == 0 && connection.scalar(others) == nil
  }
}
