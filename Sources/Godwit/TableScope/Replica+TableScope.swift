import Foundation
import GodwitBase
import GodwitEngine
import GodwitStorage

extension Replica {
  /// The tables of a replica, and whether they travel.
  public struct Tables: Sendable {
    let replica: Replica
  }

  /// The replica's tables.
  public var tables: Tables { Tables(replica: self) }
}

extension Replica.Tables {
  /// A table that is synced, or was until its sync was stopped, and its columns.
  ///
  /// - Throws: `notInSchema` for an unknown table.
  public func table(named name: String) async throws -> TableDescription {
    try await replica.pool.read { TableDescription(try Catalog($0).everSynced(named: name, on: $0).definition) }
  }

  /// Makes a local table travel, with the rows it has. They become the table's first transactions.
  ///
  /// Where the group has the table already, its rows stay as they are; a row that was other here is kept in the
  /// conflict log. Open the replica without the table's model to do this, and with a model that says `sync: .group`
  /// from then on. Programs with migrations write the step `startSync(of:)` instead.
  ///
  /// - Parameters:
  ///   - table: The table's name.
  ///   - date: How old the rows are taken to be, where two replicas start with one row. By default older than anything.
  /// - Returns: How many rows the table has.
  /// - Throws: `notInSchema`; `invalidArgument` when it is synced already, the date is NaN or to come, or the tables
  ///   change by migrations; `invalidSchema` when it cannot be synced: it numbers its rows, or refers to a table that
  ///   is not. Nothing has changed then.
  @discardableResult
  public func startSync(of table: String, asOf date: Date? = nil) async throws -> Int {
    let now = replica.wallClock.milliseconds()
    let milliseconds = try date?.milliseconds(of: "the rows' date")
    guard milliseconds ?? 0 <= now else {
      throw GodwitError(.invalidArgument, "the rows cannot be from a time that is to come")
    }
    return try await replica.withWriter { writer in
      try writer.inMerge {
        if writer.catalog[table] == nil { throw try Self.unknown(table, on: writer.connection) }
        return try TableSync(writer: writer).start(table, asOf: milliseconds)
      }
    }
  }

  /// Makes a table stay here, with the rows it has: nothing of it is logged or taken in from now on. What was logged
  /// before still travels. What others continue to write to it waits here, as for a table not known yet, and nothing is
  /// forgotten while it does; so have all members do this. Programs with migrations write the step `stopSync(of:)`
  /// instead.
  ///
  /// - Throws: `notInSchema`; `invalidArgument` when it is not synced, or the tables change by migrations;
  ///   `invalidSchema` when a synced table refers to it; `constraint` when rows of it are held back. Nothing has
  ///   changed then.
  public func stopSync(of table: String) async throws {
    try await replica.withWriter { writer in
      try writer.inMerge {
        if writer.catalog[table] == nil { throw try Self.unknown(table, on: writer.connection) }
        try TableSync(writer: writer).stop(table)
      }
    }
  }

  /// What is no table of the schema, or is none at all.
  private static func unknown(_ name: String, on connection: Connection) throws -> GodwitError {
    let kind = try connection.scalar(
      "SELECT type FROM sqlite_master WHERE name = ? COLLATE NOCASE AND name NOT LIKE 'godwit%'", [.text(name)])
    guard case .text(let kind)? = kind else {
      return GodwitError(
        .notInSchema, "there is no table \(name)",
        hint: "list them with .tables in: godwit shell; a model's table is made by opening with it")
    }
    let reason = kind == "table" ? try SourceSchema.obstacle(of: name, on: connection) : "it is no table but a \(kind)"
    return GodwitError(
      .notInSchema, "\(name) is known to SQLite alone\(reason.map { ": \($0)" } ?? "")",
      hint: "make a table \(reason == nil ? "by a model or a migration" : "without that"), and copy the rows")
  }
}
