import GodwitBase
import GodwitModel
import GodwitCore
import GodwitStorage

/// Makes tables what models and sync files say.
extension Catalog {
  /// Whether every model's table is there and has at least what the model has.
  func has(_ models: [TableDefinition]) -> Bool {
    models.allSatisfy { model in
      self[model.name].map { model.differences(from: $0.definition).allSatisfy(\.mayStand) } ?? false
    }
  }

  /// Creates missing tables, adds to those that are there where `addsMissing`, and refuses what still differs. Where
  /// tables are versioned, migrations make the synced ones. Returns whether it did anything.
  @discardableResult
  static func ensure(
    _ definitions: [TableDefinition], isVersioned: Bool = false, addsMissing: Bool = false, on connection: Connection
  ) throws -> Bool {
    let known = try Catalog(connection)
    var made: Set<String> = []
    for definition in definitions {
      guard let table = known[definition.name] else {
        guard !isVersioned || !definition.isSynced else {
          throw GodwitError(
            .schemaMismatch, "no migration makes table \(definition.name)",
            hint: "add one with the step create(\"\(definition.name)\") { … }")
        }
        try create(definition, on: connection)
        made.insert(definition.name)
        continue
      }
      let differences = definition.differences(from: table.definition)
      let refused = differences.filter { !$0.mayStand && !(addsMissing && $0.isAdditive) }
      guard refused.isEmpty else { throw mismatch(definition, refused, mayAdd: refused.allSatisfy(\.isAdditive)) }
      guard addsMissing else { continue }
      if try TableAddition(differences, to: table).run(on: connection) { made.insert(table.definition.name) }
    }
    guard !made.isEmpty else { return false }
    try checkReferences(on: connection, made: made)
    return true
  }

  /// Refuses what is missing or differs, and changes nothing.
  static func check(_ definitions: [TableDefinition], on connection: Connection) throws {
    let known = try Catalog(connection)
    for definition in definitions {
      guard let table = known[definition.name] else {
        throw GodwitError(
          .schemaMismatch, "the database has no table \(definition.name)", hint: "open it once to write, which makes it"
        )
      }
      let differences = definition.differences(from: table.definition).filter { !$0.mayStand }
      guard differences.isEmpty else { throw mismatch(definition, differences, mayAdd: false) }
    }
  }

  private static func mismatch(
    _ definition: TableDefinition, _ differences: [TableDifference], mayAdd: Bool
  ) -> GodwitError {
    GodwitError(
      .schemaMismatch,
      "table \(definition.name) differs from its model: \(differences.map(\.description).joined(separator: "; "))",
      hint: differences.contains(where: \.isOfScope)
        ? "nothing was altered; to let its rows travel, or stay: godwit table start-sync \(definition.name), or stop-sync"
        : mayAdd
          ? "nothing was altered; open with migrations: .addMissing(), which adds what is missing and keeps the rest"
          : MendingStep(definition, differences).swift.map {
            "nothing was altered; change the model back, or add a migration with \($0)"
          } ?? "nothing was altered; change the model back, or copy the rows to a new table by a migration")
  }

  /// Drops a table that is not synced; its rows go with it.
  static func drop(_ name: String, on connection: Connection) throws {
    guard let table = try Catalog(connection)[name] else {
      throw GodwitError(.notInSchema, "there is no table \(name)", hint: "open the replica with its model first")
    }
    guard !table.definition.isSynced else {
      throw GodwitError(
        .notAuthorized, "table \(name) is synced and cannot be dropped",
        hint: "only a migration that every replica runs can take it away; delete its rows instead")
    }
    let stored = StoredTables(connection)
    guard try !stored.isFormer(table.id) else {
      throw GodwitError(
        .notAuthorized, "table \(name) was synced and cannot be dropped: what others write to it waits here",
        hint: "delete its rows instead")
    }
    try connection.execute("DROP TABLE \(SQLName.quoted(table.definition.name))")
    try stored.remove(table.id)
    try RowStates.removeAll(of: table.id, on: connection)
    try Limbo.removeAll(of: table.id, on: connection)
  }

  /// Creates the tables of a sync file that this replica does not have, so that a replica whose application is
  /// elsewhere holds and shows the data. Tables that are here stay as they are. Says whether it made any.
  ///
  /// What stands in the way of a table stands in the way only of changes that use it, not of the file, whose sender may
  /// have it from somebody who sent others something else: a table of the program's own with its name, a reference that
  /// does not fit with the tables here, and too many columns in all.
  ///
  /// Throws `invalidSchema` for tables of one file that do not fit together.
  static func adopt(_ definitions: [TableDefinition], on connection: Connection) throws -> Bool {
    var known = try Catalog(connection)
    guard definitions.contains(where: { known[$0.name] == nil }) else { return false }
    try checkReferences(among: definitions)
    var hasMade = false
    for definition in definitions where known[definition.name] == nil {
      guard known.hasRoom(for: definition.columns.count, indexes: definition.indexes.count),
        !known.hasMisfit(definition), try !exists(definition.name, on: connection)
      else { continue }
      try create(definition, on: connection)
      known.add(CatalogTable(id: 0, definition: definition))
      hasMade = true
    }
    return hasMade
  }

  /// Adds the columns of a sync file's tables that the tables here lack, where they can be added. Says whether it added
  /// any. What cannot be is left: what is written to it waits.
  static func extend(_ definitions: [TableDefinition], on connection: Connection) throws -> Bool {
    let known = try Catalog(connection)
    var room = known.columnRoom
    var hasExtended = false
    for definition in definitions where !definition.isCollection {
      guard let table = known[definition.name], table.definition.isSynced else { continue }
      for column in table.definition.columns(missingOf: definition) where room > 0 {
        guard let table = try Catalog(connection)[definition.name], !known.isMisfit(column, of: table.definition) else {
          continue
        }
        do {
          _ = try TableAddition([.missingColumn(column)], to: table).run(on: connection)
          (room, hasExtended) = (room - 1, true)
        } catch let error as GodwitError where [.schemaMismatch, .invalidSchema, .limitExceeded].contains(error.code) {
          continue
        }
      }
    }
    return hasExtended
  }

  package static func create(_ definition: TableDefinition, on connection: Connection) throws {
    guard try !exists(definition.name, on: connection) else {
      throw GodwitError(
        .schemaMismatch, "the database has a table \(definition.name) that Godwit did not make",
        hint: "rename it, or give the model another table name")
    }
    for column in definition.columns { try ExpressionTrial.run(column, of: definition, on: connection) }
    let table = CatalogTable(id: try StoredTables(connection).add(definition), definition: definition)
    for sql in definition.creationStatements { try connection.execute(sql) }
    if definition.isSynced {
      for sql in CaptureTriggers.statements(table) { try connection.execute(sql) }
    }
  }

  /// Keeps what a table has become.
  static func update(_ table: CatalogTable, on connection: Connection) throws {
    try StoredTables(connection).update(table.id, to: table.definition)
  }
}
