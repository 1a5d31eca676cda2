import Foundation
import GodwitBase
import GodwitModel
import GodwitCore
import GodwitEngine
import GodwitStorage

extension Replica {
  /// The conflict log: writes that lost to writes they had not seen, with what they had written.
  public struct Conflicts: Sendable {
    let replica: Replica
  }

  /// The conflict log.
  public var conflicts: Conflicts { Conflicts(replica: self) }
}

extension Replica.Conflicts {
  /// Writes that lost to writes they had not seen, newest first.
  ///
  /// - Parameters:
  ///   - limit: How many at most.
  ///   - table: Only those of one table; its sync may have been stopped since.
  ///   - key: Only those of the rows with this key.
  ///   - kind: Only those of one kind.
  ///   - since: Only those of which the later write is of this time or later, by its writer's
  ///     clock.
  /// - Throws: `invalidArgument` for a negative limit, `notInSchema` for an unknown table.
  public func list(
    limit: Int = 100, table: String? = nil, key: [Value]? = nil, kind: Conflict.Kind? = nil, since: Date? = nil
  ) async throws -> [Conflict] {
    try Replica.check(limit)
    let earliest = try since?.milliseconds(of: "the earliest time")
    return try await replica.pool.read { connection in
      let entry = try table.map { try Catalog(connection).everSynced(named: $0, on: connection) }
      let stored = try key.map { key in
        try entry.map { try StoredKey(key, of: $0.definition, on: connection).values } ?? key
      }
      let filter = ConflictLog.Filter(
        table: entry?.id, key: stored, kind: kind, since: earliest.map { HLC(milliseconds: $0) })
      return try ConflictLog(connection, origins: OriginTable(connection)).list(filter, limit: limit)
    }
  }

  /// Writes to the rows of a model that lost to writes they had not seen, newest first.
  ///
  /// - Parameters:
  ///   - model: The model; the sync of its table may have been stopped since.
  ///   - key: The key of the one row to look at; all of them by default.
  ///   - kind: Only those of one kind.
  ///   - since: Only those of which the later write is of this time or later, by its writer's clock.
  ///   - limit: How many at most.
  /// - Throws: As ``list(limit:table:key:kind:since:)``.
  public func list<Root: Model>(
    of model: Root.Type, key: Root.ID? = nil, kind: Conflict.Kind? = nil, since: Date? = nil, limit: Int = 100
  ) async throws -> [Conflict] {
    let values = try key?.valuesOfColumns()
    return try await list(limit: limit, table: Root.schema.table, key: values, kind: kind, since: since)
  }

  /// Those that are not resolved, newest first.
  package func open(limit: Int) async throws -> [Conflict] {
    try await replica.pool.read { connection in
      try ConflictLog(connection, origins: OriginTable(connection)).list(.init(isOpen: true), limit: limit)
    }
  }

  /// The conflict with this number, or nil.
  public func show(_ id: Conflict.ID) async throws -> Conflict? {
    try await replica.pool.read { connection in
      try ConflictLog(connection, origins: OriginTable(connection)).list(.init(id: id), limit: 1).first
    }
  }

  /// Whether ``restore(_:)`` has no row to write to and cannot insert it: the row is gone, and nothing but what
  /// the conflict says is remembered of it.
  ///
  /// Takes time in proportion to the transactions since the last import that had something to merge.
  ///
  /// - Throws: `notFound` when there is no such conflict.
  public func lacksRow(of id: Conflict.ID) async throws -> Bool {
    try await replica.pool.read { connection in
      let log = ConflictLog(connection, origins: try OriginTable(connection))
      guard let conflict = try log.list(.init(id: id), limit: 1).first else { throw Self.noConflict(id) }
      return try RowHistory(connection).lacksRow(of: conflict)
    }
  }

  private static func noConflict(_ id: Conflict.ID) -> GodwitError {
    GodwitError(.notFound, "there is no conflict \(id)", hint: "see: godwit conflicts")
  }

  /// Brings back what lost, by an ordinary new write in a transaction of its own, and marks the conflict as resolved:
  /// a lost edit writes its value into the cell, inserting the row from what is remembered of it when it was deleted;
  /// a lost delete deletes the row. What waits in limbo only a write to another row can release; when that has
  /// happened, nothing is left to write.
  ///
  /// - Returns: Whether anything had to be written.
  /// - Throws: `notFound` when there is no such conflict, or the row is gone and not remembered; `inLimbo`, with a
  ///   hint, when the row waits for another one; `constraint` when the value breaks a rule now; `notInSchema` when the
  ///   table is not synced any more, or the column is another one now (`Conflict.formerColumns`).
  @discardableResult
  public func restore(_ id: Conflict.ID) async throws -> Bool {
    let clock = replica.documentClock
    return try await replica.withWriter { writer in
      try writer.write { transaction in
        let log = ConflictLog(writer.connection, origins: writer.log.origins)
        guard let conflict = try log.list(.init(id: id), limit: 1).first else { throw Self.noConflict(id) }
        try Self.checkIsRestorable(conflict)
        let hasWritten = try ConflictRestorer(writer, transaction, now: clock.now).restore(conflict)
        try log.markResolved(id)
        return hasWritten
      }
    }
  }

  private static func checkIsRestorable(_ conflict: Conflict) throws {
    guard conflict.kind == .edit, let column = conflict.formerColumns.first else { return }
    throw GodwitError(
      .notInSchema, "column \(column) of table \(conflict.table) is not what it was when the value was written",
      hint: "the conflict keeps the value; write it where it belongs now")
  }

  /// Drops conflicts whose later write is older than a date, by its writer's clock. They stay counted in
  /// ``Replica/Status/prunedConflicts``.
  ///
  /// - Returns: How many those were.
  /// - Throws: `invalidArgument` for a date that is NaN.
  @discardableResult
  public func prune(before date: Date) async throws -> Int {
    let earliest = try date.milliseconds(of: "the time")
    return try await prune { try $0.prune(before: HLC(milliseconds: earliest)) }
  }

  /// Drops all conflicts but so many, resolved ones first and then the oldest. They stay counted in
  /// ``Replica/Status/prunedConflicts``.
  ///
  /// Imports do the same with 10,000, but keep all that they found themselves.
  ///
  /// - Returns: How many those were.
  /// - Throws: `invalidArgument` for a negative count.
  @discardableResult
  public func prune(keeping count: Int) async throws -> Int {
    try Replica.check(count)
    return try await prune { try $0.prune(keeping: count) }
  }

  private func prune(_ body: @escaping @Sendable (ConflictLog) throws -> Int) async throws -> Int {
    try await replica.withWriter { writer in
      try writer.inTransaction { try body(ConflictLog(writer.connection, origins: writer.log.origins)) }
    }
  }
}

extension Catalog {
  /// The synced table of this name.
  func synced(named name: String) throws -> CatalogTable {
    guard let table = self[name], table.definition.isSynced else {
      let collection = try? CollectionTable.name(of: name)
      let hint = collection.flatMap { self[$0] }.map { "the collection \(name) is in table \($0.definition.name)" }
      throw GodwitError(.notInSchema, "there is no synced table \(name)", hint: hint ?? "see: godwit status")
    }
    return table
  }

  /// The table of this name that is synced, or was until its sync was stopped.
  func everSynced(named name: String, on connection: Connection) throws -> CatalogTable {
    if let table = self[name], !table.definition.isSynced, try StoredTables(connection).isFormer(table.id) {
      return table
    }
    return try synced(named: name)
  }
}
