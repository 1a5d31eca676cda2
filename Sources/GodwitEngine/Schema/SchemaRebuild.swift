import GodwitBase
import GodwitModel
import GodwitCore
import GodwitStorage

/// Makes the tables what a draft says. Tables whose rows change are made anew and take the place of the old ones, as
/// SQLite 3.15 cannot drop or rename a column; the rest is left alone. Triggers and foreign keys are off.
final class SchemaRebuild {
  let connection: Connection
  private let catalog: Catalog
  private let draft: SchemaDraft
  let version: UInt64
  let states: RowStates
  let converter: ValueConverter
  private let conflicts: ConflictLog.Carrier
  /// Rows written anew, by the table's new name.
  private(set) var rebuilt: [(table: String, rows: Int)] = []
  /// Tables that are new.
  private(set) var made: [String] = []
  /// Tables of which only the indexes have changed.
  private(set) var reindexed: [String] = []
  /// Unique indexes of synced tables that are still to be made: which of equal rows is shown is judged like a merge.
  var uniqueIndexes: [(table: String, index: IndexDefinition)] = []

  init(
    _ draft: SchemaDraft, to version: UInt64, catalog: Catalog, origins: OriginTable, on connection: Connection
  ) {
    self.draft = draft
    self.version = version
    self.catalog = catalog
    self.connection = connection
    states = RowStates(connection: connection, origins: origins)
    converter = ValueConverter(connection: connection)
    conflicts = ConflictLog.Carrier(connection: connection, version: version)
  }

  /// A table that is made anew.
  struct Work {
    let old: CatalogTable
    let new: SchemaDraft.Table
    let temporaryName: String
    let ownObjects: OwnObjects
    let lastNumber: Value?
  }

  func run() throws {
    try connection.execute("PRAGMA legacy_alter_table=ON")
    defer { try? connection.execute("PRAGMA legacy_alter_table=OFF") }
    var works: [Work] = []
    for table in draft.tables {
      guard let origin = table.origin, let old = catalog[origin] else { continue }
      try check(table, of: old)
      if table.needsRebuild(of: old.definition) {
        works.append(try begin(table, of: old))
      } else if table.definition != old.definition {
        try extend(old, to: table)
      }
    }
    for work in works { try fill(work) }
    for name in draft.dropped { try drop(name) }
    for work in works { try connection.execute("DROP TABLE \(SQLName.quoted(work.old.definition.name))") }
    // Two tables may change names, so no name is given before all are free.
    for work in works {
      try StoredTables(connection).rename(work.old.id, to: work.temporaryName)
    }
    for work in works { try finish(work) }
    for table in draft.tables where table.origin == nil {
      try Catalog.create(table.definition, on: connection)
      made.append(table.definition.name)
    }
    for work in works { try fitting(work) { try work.ownObjects.check(on: work.new.definition, connection) } }
  }

  /// Compiles what the migration brings of SQL before it is run over rows.
  private func check(_ table: SchemaDraft.Table, of old: CatalogTable) throws {
    for (column, source) in zip(table.definition.columns, table.sources) {
      if !old.definition.columns.contains(column) {
        try ExpressionTrial.run(column, of: table.definition, on: connection)
      }
      let isNew = source.column == nil || !source.conversions.isEmpty
      if isNew, try !ExpressionTrial.passesDefault(column, on: connection) {
        throw SchemaDraft.invalid(
          "the default of column \(column.name) of table \(table.definition.name) does not pass its check")
      }
    }
  }

  // MARK: Tables that only gain something

  private func extend(_ old: CatalogTable, to new: SchemaDraft.Table) throws {
    let definition = new.definition
    let table = CatalogTable(id: old.id, definition: definition)
    for column in definition.columns.dropFirst(old.definition.columns.count) {
      try connection.execute(definition.additionStatement(column))
    }
    if Set(old.definition.indexes) != Set(definition.indexes) { reindexed.append(definition.name) }
    for index in old.definition.indexes where !definition.indexes.contains(index) {
      try connection.execute("DROP INDEX IF EXISTS \(SQLName.quoted(definition.indexName(index)))")
    }
    for index in definition.indexes where !old.definition.indexes.contains(index) {
      try prepare(index, of: definition)
    }
    try Catalog.update(table, on: connection)
    try CaptureTriggers.remake(table, on: connection)
    try conflicts.carry(old, to: new)
  }

  private func drop(_ name: String) throws {
    guard let table = catalog[name] else { return }
    try connection.execute("DROP TABLE \(SQLName.quoted(table.definition.name))")
    try StoredTables(connection).remove(table.id)
    try conflicts.drop(table)
    try RowStates.removeAll(of: table.id, on: connection)
    try Limbo.removeAll(of: table.id, on: connection)
    try AheadRows(connection: connection).removeAll(of: table.id)
  }

  // MARK: Tables that are made anew

  private func begin(_ table: SchemaDraft.Table, of old: CatalogTable) throws -> Work {
    let name = old.definition.name
    let declared = Set(old.definition.indexes.map { old.definition.indexName($0).lowercased() })
    let lastNumber =
      old.definition.numbersKeys
      ? try connection.scalar("SELECT seq FROM sqlite_sequence WHERE name = ?", [.text(name)]) : nil
    return Work(
      old: old, new: table, temporaryName: "godwit_new_\(old.id)",
      ownObjects: try OwnObjects(on: name, besides: declared, connection), lastNumber: lastNumber)
  }

  private func fill(_ work: Work) throws {
    try connection.execute(work.new.definition.creationStatement(as: work.temporaryName))
    let columns = work.new.definition.quotedColumnList
    let isPlain = work.new.sources.allSatisfy { $0.conversions.isEmpty }
    if isPlain {
      let values = work.new.sources.map { $0.column.map(SQLName.quoted) ?? $0.value.literal }
      try connection.run(
        "INSERT INTO \(SQLName.quoted(work.temporaryName)) (\(columns)) SELECT \(values.joined(separator: ", ")) "
          + "FROM \(SQLName.quoted(work.old.definition.name)) ORDER BY rowid")
      rebuilt.append((work.new.definition.name, connection.changes))
    } else {
      rebuilt.append((work.new.definition.name, try convertRows(work)))
    }
  }

  private func convertRows(_ work: Work) throws -> Int {
    let places = work.new.definition.columns.map { _ in "?" }.joined(separator: ", ")
    let insert =
      "INSERT OR FAIL INTO \(SQLName.quoted(work.temporaryName)) (\(work.new.definition.quotedColumnList)) "
      + "VALUES (\(places))"
    let old = work.old.definition
    let hiddenReferences = try hiddenReferences(of: work.old)
    let select = "SELECT \(old.quotedColumnList) FROM \(SQLName.quoted(old.name)) ORDER BY rowid"
    var rows = 0
    try connection.withStatement(select) { selection in
      try connection.withStatement(insert) { insertion in
        while try selection.step() {
          let values = try old.columns.indices.map { try selection.value(at: Int32($0)) }
          try insertion.bind(try convert(values, hiddenReferences, work))
          try insertion.run()
          rows += 1
        }
      }
    }
    return rows
  }

  /// The values for which the table shows NULL, by key.
  private func hiddenReferences(of table: CatalogTable) throws -> [[UInt8]: [Int: Value]] {
    guard table.definition.columns.contains(where: { $0.reference != nil }) else { return [:] }
    var hiddenReferences: [[UInt8]: [Int: Value]] = [:]
    try states.forEach(of: table.id) { key, state in
      if !state.hiddenReferences.isEmpty { hiddenReferences[Array(key.key)] = state.hiddenReferences }
    }
    return hiddenReferences
  }

  /// A row's new values of its old ones, the key included.
  private func convert(_ values: [Value], _ hiddenReferences: [[UInt8]: [Int: Value]], _ work: Work) throws -> [Value] {
    let old = work.old.definition
    let hidden = hiddenReferences.isEmpty ? [:] : hiddenReferences[Array(values.prefix(old.keyCount)).encoded] ?? [:]
    return try zip(work.new.definition.columns, work.new.sources).map { column, source in
      let number = source.column.flatMap(old.number)
      // A hidden reference stays so, but where a local row was written to since; what is derived from it is made of
      // what it stands for.
      let hiddenValue = number.flatMap { values[$0] == .null ? hidden[$0] : nil }
      if column.reference != nil, hiddenValue != nil { return .null }
      let start = number.map { hiddenValue ?? values[$0] } ?? source.value
      let outcome = try converter.convert(start, by: source.conversions)
      if outcome.loses, let name = source.column {
        let key = Array(values.prefix(old.keyCount)).encoded
        try LossLog(connection).add(start, version: version, table: old.name, key: key, column: name)
      }
      return outcome.value
    }
  }

  private func finish(_ work: Work) throws {
    let definition = work.new.definition
    let table = CatalogTable(id: work.old.id, definition: definition)
    try connection.execute(
      "ALTER TABLE \(SQLName.quoted(work.temporaryName)) RENAME TO \(SQLName.quoted(definition.name))")
    if let last = work.lastNumber {
      try connection.run(
        "UPDATE sqlite_sequence SET seq = ?1 WHERE name = ?2 AND seq < ?1", [last, .text(definition.name)])
      try connection.run(
        "INSERT INTO sqlite_sequence (name, seq) SELECT ?2, ?1 WHERE NOT EXISTS "
          + "(SELECT 1 FROM sqlite_sequence WHERE name = ?2)", [last, .text(definition.name)])
    }
    for index in definition.indexes { try prepare(index, of: definition) }
    if definition.isSynced {
      for sql in CaptureTriggers.statements(table) { try connection.execute(sql) }
    }
    try fitting(work) { for sql in work.ownObjects.statements { try connection.execute(sql) } }
    try Catalog.update(table, on: connection)
    try renumber(work)
    try conflicts.carry(work.old, to: work.new)
  }

  private func fitting(_ work: Work, _ body: () throws -> Void) throws {
    do {
      try body()
    } catch let error as GodwitError {
      throw GodwitError(
        .invalidMigration,
        "an index or trigger of the program's own on table \(work.old.definition.name) "
          + "does not fit the table any more", hint: "nothing was altered; drop it first", underlying: error)
    }
  }
}
