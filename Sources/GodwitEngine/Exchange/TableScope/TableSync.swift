import GodwitBase
import GodwitModel
import GodwitCore
import GodwitStorage

/// Makes a table with rows travel, and a table that travels stay here (Specs/table-scope.md). Everything runs inside
/// one database transaction with triggers and foreign keys off.
package struct TableSync {
  let writer: ReplicaWriter

  package init(writer: ReplicaWriter) { self.writer = writer }
  private var connection: Connection { writer.connection }

  /// Rows that wait until it is known what the group has in their table.
  struct Aside {
    let number: Int
    let table: String
    let name: String
    /// Whether others may hold rows of it from before.
    let wasSynced: Bool
    /// Whether some of the rows were not in the table, and may not fit with those that were.
    let hadHidden: Bool
    /// What the table was when it was stopped, if that is remembered; the table is that again.
    let former: FormerRows?
  }

  // MARK: Starting

  /// Starts without a migration. Returns how many rows the table had.
  package func start(_ name: String, asOf milliseconds: Int64?) throws -> Int {
    let definition = try definition(of: name, synced: false).setting(isSynced: true)
    for column in definition.columns {
      guard let target = column.reference?.table, !target.isSameName(as: definition.name) else { continue }
      guard writer.catalog[target]?.definition.isSynced ?? false else {
        throw GodwitError(
          .invalidSchema, "table \(definition.name) refers to table \(target), which is not synced",
          hint: "start with table \(target)")
      }
    }
    guard !writer.catalog.hasMisfit(definition) else {
      throw GodwitError(
        .invalidSchema, "a reference from or to table \(definition.name) is of another type than the key",
        hint: "nothing was changed; give both columns the same type")
    }
    try replace(definition)
    let aside = try setAside(definition)
    try writer.reload()
    _ = try WaitingRun.runInside(writer, aside: [aside.number])
    return try bringBack([aside], asOf: milliseconds)
  }

  /// Takes the rows out of a table that is about to travel, those that wait included. One that travelled before is what
  /// it was then.
  func setAside(_ definition: TableDefinition) throws -> Aside {
    let number = writer.catalog[definition.name]?.id ?? 0
    let wasSynced = try StoredTables(connection).isFormer(number)
    let name = "godwit_aside_\(number)"
    let hidden = try writer.merger().hiddenRows(of: definition.name)
    try RowStates.removeAll(of: number, on: connection)
    try Limbo.removeAll(of: number, on: connection)
    try connection.execute(
      """
      CREATE TABLE \(name) AS SELECT \(definition.quotedColumnList)
        FROM \(SQLName.quoted(definition.name)) ORDER BY rowid;
      DELETE FROM \(SQLName.quoted(definition.name));
      """)
    let places = definition.columns.map { _ in "?" }.joined(separator: ", ")
    if try !hidden.isEmpty || FormerRows.areKept(of: number, on: connection) {
      try connection.execute("CREATE INDEX \(name)_key ON \(name) (\(definition.quotedKeyList))")
    }
    for row in hidden {
      try connection.run("DELETE FROM \(name) WHERE \(definition.keyCondition)", Array(row.prefix(definition.keyCount)))
      try connection.run("INSERT INTO \(name) (\(definition.quotedColumnList)) VALUES (\(places))", row)
    }
    let former = try FormerRows.bringBack(of: CatalogTable(id: number, definition: definition), on: connection)
    if former != nil { try followTimes(of: number) }
    return Aside(
      number: number, table: definition.name, name: name, wasSynced: wasSynced, hadHidden: !hidden.isEmpty,
      former: former)
  }

  /// What is written to the rows from now on is later than all that their states know.
  private func followTimes(of table: Int) throws {
    try RowStates(connection: connection, origins: writer.log.origins).forEach(of: table) { key, state in
      if let latest = state.latest { try writer.clock.take(latest, of: key) }
    }
    try writer.clock.save(through: writer.log.origins.ownSequence)
  }

  /// Puts the rows of tables back as this replica's writes, and judges their references once all are there. Returns
  /// how many there were.
  @discardableResult
  func bringBack(_ asides: [Aside], asOf milliseconds: Int64?) throws -> Int {
    var count = 0
    var mayDangle = false
    for aside in asides {
      let (rows, isKnown) = try bringBack(aside, asOf: milliseconds)
      let refers = writer.catalog[aside.table]?.definition.columns.contains { $0.reference != nil } ?? false
      mayDangle = mayDangle || isKnown || refers
      count += rows
    }
    if try mayDangle || Limbo.any(on: connection) { try writer.merger().settleRows(of: asides.map(\.table)) }
    return count
  }

  /// Where the group knows nothing of the table its rows have an old timestamp, so that whatever others write of them
  /// is later. Where it does, what it has stays, and a row that is other here is kept in the conflict log, but for what
  /// was changed here alone since the table was stopped.
  private func bringBack(_ aside: Aside, asOf milliseconds: Int64?) throws -> (rows: Int, isKnown: Bool) {
    guard let entry = writer.catalog[aside.table] else { return (0, false) }
    let isKnown = try aside.wasSynced || isKnown(entry)
    let stamp = isKnown ? nil : HLC(milliseconds: max(1, milliseconds ?? 1), counter: 0)
    let count = try ReturningRows(aside, entry, isKnown: isKnown, writer).run(stampedAs: stamp)
    try connection.execute("DROP TABLE \(aside.name)")
    try aside.former?.remove()
    writer.tally.recompute(entry.id)
    return (count, isKnown)
  }

  private func isKnown(_ table: CatalogTable) throws -> Bool {
    let name = SQLName.quoted(table.definition.name)
    if try connection.scalar("SELECT 1 FROM \(name) LIMIT 1") != nil { return true }
    return try RowStates.haveAny(of: table.id, on: connection)
  }

  // MARK: Stopping

  /// Stops without a migration.
  package func stop(_ name: String) throws {
    let definition = try definition(of: name, synced: true).setting(isSynced: false)
    let referring = writer.catalog.synced.first { other in
      !other.definition.name.isSameName(as: definition.name)
        && other.definition.columns.contains { $0.reference?.table.isSameName(as: definition.name) ?? false }
    }
    if let referring {
      throw GodwitError(
        .invalidSchema, "table \(referring.definition.name) is synced and refers to table \(definition.name)",
        hint: "stop with table \(referring.definition.name)")
    }
    try writer.settle()
    if let entry = writer.catalog[definition.name] {
      try requireNoneHeld(entry)
      try FormerRows.keep(of: entry, on: connection)
    }
    try release(definition)
    try replace(definition)
    try writer.reload()
  }

  /// Drops what is remembered of the rows of a table that is about to stay here. Rows that wait come into the conflict
  /// log, whole: whoever wrote what would bring them writes to another table now.
  func release(_ definition: TableDefinition) throws {
    guard let entry = writer.catalog[definition.name] else { return }
    try writer.merger().listWaiting(in: definition.name)
    try Limbo.removeAll(of: entry.id, on: connection)
    try RowStates.removeAll(of: entry.id, on: connection)
    try AheadRows(connection: connection).removeAll(of: entry.id)
    try StoredTables(connection).markFormer(entry.id)
  }

  private func requireNoneHeld(_ table: CatalogTable) throws {
    guard try !Limbo.any(of: table.id, on: connection) else {
      throw GodwitError(
        .constraint, "rows of table \(table.definition.name) are held back, and would be lost",
        hint: "see: godwit limbo")
    }
  }

  // MARK: Both

  private func definition(of name: String, synced: Bool) throws -> TableDefinition {
    guard let table = writer.catalog[name] else {
      throw GodwitError(.notInSchema, "there is no table \(name)", hint: "list them with .tables in: godwit shell")
    }
    guard !table.definition.isCollection else {
      throw GodwitError(
        .invalidArgument, "\(table.definition.name) is a collection of documents, which are always synced")
    }
    guard table.definition.isSynced == synced else {
      throw GodwitError(
        .invalidArgument, "table \(table.definition.name) is \(synced ? "not synced" : "synced already")")
    }
    let step = synced ? "stopSync" : "startSync"
    // What was stopped by a call, before there were migrations, is started by one: others have the table as ever.
    let isVersioned = try Meta.integer(.schemaVersion, on: connection) > 0
    guard try !isVersioned || !synced && FormerRows.areKept(of: table.id, on: connection) else {
      throw GodwitError(
        .invalidArgument, "the tables change by migrations",
        hint: "write a migration with the step \(step)(\"\(table.definition.name)\")")
    }
    return table.definition
  }

  private func replace(_ definition: TableDefinition) throws {
    guard let entry = writer.catalog[definition.name] else { return }
    let table = CatalogTable(id: entry.id, definition: definition)
    try Catalog.update(table, on: connection)
    try CaptureTriggers.remake(table, on: connection)
  }
}
