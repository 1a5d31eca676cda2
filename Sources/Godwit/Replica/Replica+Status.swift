import GodwitBase
import GodwitModel
import GodwitCore
import GodwitEngine
import GodwitStorage

extension Replica {
  /// Where the replica stands: its tables, what is applied of whom, what waits. Linear in the rows of the tables, which
  /// it counts.
  public func status() async throws -> Replica.Status { try await status(countsRows: true) }

  /// The same, or without the tables, whose rows it then does not count.
  package func status(countsRows: Bool) async throws -> Replica.Status {
    let own = identity.replica
    let anchor = folder.anchor
    let members = try await members.list().filter { $0.isActive && !$0.isOwn }.map(\.identity.replica)
    return try await pool.read { connection in
      let log = try ChangeLog(connection)
      let origins = log.origins
      let applied = origins.vector
      let staged = StagedTransactions(connection: connection)
      let tables = try (countsRows ? Catalog(connection).synced : []).map { table in
        Replica.Status.Table(
          name: table.definition.name,
          rows: try Self.integer("SELECT count(*) FROM \(SQLName.quoted(table.definition.name))", connection))
      }
      let incarnations = try KnownIncarnations(log, on: connection)
      let known = try members.map(incarnations.applied(by:))
      let unsent = applied.origins.filter { $0.replica == own }.reduce(0) { sum, origin in
        let least = known.map { $0[origin] }.min() ?? .none
        return sum + Int(applied[origin].rawValue - min(least, applied[origin]).rawValue)
      }
      return Replica.Status(
        incarnation: origins.own.incarnationID, tables: tables,
        applied: applied.origins.map { Replica.Status.Applied(replica: $0.replica, sequence: applied[$0].rawValue) },
        staged: try staged.count(), waiting: try staged.ranges(),
        schemaVersion: Int(try Meta.integer(.schemaVersion, on: connection)),
        heldVersion: try staged.held(beyond: MigrationHistory(connection)),
        conflicts: try ConflictLog.openCount(on: connection),
        prunedConflicts: try ConflictLog.prunedCount(on: connection), limbo: try Limbo.rowCount(on: connection),
        missing: try staged.missing(held: applied), unsent: unsent,
        differing: try SignedAcknowledgements(connection: connection).differing(),
        forks: try KnownForks(connection: connection).list().map {
          Replica.Status.Fork(replica: $0.replica, sequence: $0.sequence, shownBy: $0.shownBy)
        },
        copied: ([own] + members).filter(incarnations.isCopied),
        remotes: try Replica.Remote.all(RemoteNotes(connection)), alteredAt: try anchor.alteredAt(),
        databaseBytes: try Self.integer("PRAGMA page_count", connection) * DatabaseFile.pageSize,
        cipherVersion: try Self.text("PRAGMA cipher_version", connection))
    }
  }

  /// Bytes of the database's pages that are free, and are written anew before the file grows.
  package func freeBytes() async throws -> Int {
    try await pool.read { try Self.integer("PRAGMA freelist_count", $0) * DatabaseFile.pageSize }
  }

  static func check(_ limit: Int) throws {
    guard limit >= 0 else { throw GodwitError(.invalidArgument, "a limit of \(limit) is negative") }
  }

  private static func integer(_ sql: String, _ connection: Connection) throws -> Int {
    guard case .integer(let number)? = try connection.scalar(sql) else { return 0 }
    return Int(number)
  }

  private static func text(_ sql: String, _ connection: Connection) throws -> String {
    guard case .text(let text)? = try connection.scalar(sql) else { return "" }
    return text
  }
}
