import GodwitBase
import GodwitModel
import GodwitCore
import GodwitStorage

// The tables of collections, which are made and extended by whatever names them (Specs/documents.md).
extension Catalog {
  /// Makes the table, or adds the columns that it lacks. Says whether there was anything to do.
  ///
  /// - Parameter limit: How many members the collection may have then: what others have written needs more room than
  ///   what is written here.
  ///
  /// Throws `limitExceeded`.
  static func grow(
    _ table: String, columns: [String], upTo limit: Int = CollectionTable.memberLimit, on connection: Connection
  ) throws -> Bool {
    guard let known = try Catalog(connection)[table] else {
      try checkCount(columns.count, limit)
      guard let definition = try CollectionTable.definition(table, members: columns) else { return false }
      try create(definition, on: connection)
      try connection.execute(expiryIndex(of: definition.name))
      return true
    }
    let present = Set(known.definition.columns.map(\.name))
    let missing = columns.filter { !present.contains($0) }
    guard !missing.isEmpty else { return false }
    try checkCount(present.count - CollectionTable.ownColumnCount + missing.count, limit)
    let differences = missing.compactMap(CollectionTable.column(named:)).map(TableDifference.missingColumn)
    return try TableAddition(differences, to: known).run(on: connection)
  }

  /// Makes what is missing here of the collections of a sync file; what has no room is left: what is written to it
  /// waits.
  static func grow(_ definitions: [TableDefinition], on connection: Connection) throws -> Bool {
    var hasGrown = false
    for definition in definitions where definition.isCollection {
      let columns = definition.columns.dropFirst(CollectionTable.ownColumnCount).map(\.name)
      if try growWithRoom(definition.name, columns: columns, on: connection) { hasGrown = true }
    }
    return hasGrown
  }

  /// Gives collections that hold no rows the columns of a state file, in its order, which is that of the values in it.
  /// Returns what they had besides, to be added when the rows are in.
  static func rearrange(
    _ definitions: [TableDefinition], on connection: Connection
  ) throws -> [(table: String, columns: [String])] {
    let known = try Catalog(connection)
    var besides: [(table: String, columns: [String])] = []
    for definition in definitions where definition.isCollection {
      guard let table = known[definition.name], table.definition.columns != definition.columns else { continue }
      let names = Set(definition.columns.map(\.name))
      besides.append((definition.name, table.definition.columns.map(\.name).filter { !names.contains($0) }))
      let rearranged = CatalogTable(id: table.id, definition: definition)
      try connection.execute("DROP TABLE \(SQLName.quoted(definition.name))")
      for sql in definition.creationStatements + [expiryIndex(of: definition.name)] { try connection.execute(sql) }
      for sql in CaptureTriggers.statements(rearranged) { try connection.execute(sql) }
      try update(rearranged, on: connection)
    }
    return besides
  }

  private static func growWithRoom(_ table: String, columns: [String], on connection: Connection) throws -> Bool {
    // A table of the program's own with this name stands in the way only of the changes that use it.
    let catalog = try Catalog(connection)
    let known = catalog[table]
    if known == nil, try exists(table, on: connection) || !catalog.hasRoom(for: CollectionTable.ownColumnCount) {
      return false
    }
    let present = Set(known?.definition.columns.map(\.name) ?? [])
    let room = min(
      CollectionTable.heldMemberLimit - max(0, present.count - CollectionTable.ownColumnCount), catalog.columnRoom)
    let missing = columns.filter { !present.contains($0) && CollectionTable.column(named: $0) != nil }
    return try grow(
      table, columns: Array(missing.prefix(max(0, room))), upTo: CollectionTable.heldMemberLimit, on: connection)
  }

  private static func checkCount(_ count: Int, _ limit: Int) throws {
    guard count <= limit else {
      throw GodwitError(
        .limitExceeded, "the collection would have \(count) members; \(limit) are allowed",
        hint: "nothing was stored; put what varies into an object that is one member")
    }
  }

  /// Local, for the sweep: most documents have no expiry, and those are not in it. No collection's table has its name.
  private static func expiryIndex(of table: String) -> String {
    let column = SQLName.quoted(CollectionTable.expiryColumn)
    let index = SQLName.quoted("\(table)$_by_expiry")
    return "CREATE INDEX IF NOT EXISTS \(index) ON \(SQLName.quoted(table)) (\(column)) "
      + "WHERE \(column) IS NOT NULL"
  }
}
