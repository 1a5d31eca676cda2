import GodwitBase
import GodwitCore
import GodwitStorage

/// What another program's database consists of, and as what each part comes here (Specs/conversion.md, "Tables").
struct SourceSchema {
  struct Table {
    let name: String
    /// The statement that made it there.
    let sql: String
    let columns: [SourceColumn]
    /// What it becomes here; nil for a plain table, which Godwit knows nothing of.
    var definition: TableDefinition?
    /// Why there is none.
    var reason: String?
    /// What its statement says and nothing here does.
    var leftOut: [String] = []
    var indexes: [IndexDefinition] = []
    /// Whether all rows have a key.
    var hasKey = false
    let words: SQLWords
  }

  struct Part {
    let type: String
    let name: String
    let sql: String
  }

  private(set) var tables: [Table] = []
  /// Indexes that nothing here has, views, triggers and virtual tables with those that they keep their content in.
  private(set) var leftOut: [Replica.ConversionReport.Part] = []
  let source: any SourceRows

  /// Throws `invalidSchema` for names that are Godwit's, and for such as nothing has here.
  init(_ source: any SourceRows) throws {
    self.source = source
    let parts = try Self.parts(source)
    let virtual = VirtualTables(parts.map { ($0.name, $0.sql) })
    let kept = parts.filter { $0.type == "table" && !virtual.own($0.name) }
    // Before anything is read of what has them.
    var names = SourceNames()
    for part in kept {
      guard !part.name.lowercased().hasPrefix("godwit_") else {
        throw GodwitError(
          .invalidSchema, "the database has a table \(part.name), a name that is Godwit's own",
          hint: "rename it in the database")
      }
      names.check(part.name, "table")
    }
    try names.requireNone()
    var covered: Set<String> = []
    for part in kept { tables.append(try table(part, &covered)) }
    for table in tables { for column in table.columns { names.check(column.name, "column", of: table.name) } }
    try names.requireNone()
    try settleReferences()
    try requireDistinctNames()
    leftOut = parts.compactMap { part in
      if virtual.own(part.name) {
        return Replica.ConversionReport.Part(kind: .virtualTable, name: part.name, sql: part.sql)
      }
      guard let kind = Replica.ConversionReport.Part.Kind(rawValue: part.type),
        kind != .index || !covered.contains(part.name)
      else { return nil }
      return Replica.ConversionReport.Part(kind: kind, name: part.name, sql: part.sql)
    }
  }

  /// Tables and indexes share their names.
  private func requireDistinctNames() throws {
    var names: Set<String> = []
    for name in tables.map(\.name) + tables.flatMap({ table in table.indexes.map { $0.name(in: table.name) } }) {
      guard names.insert(name.lowercased()).inserted else {
        throw GodwitError(
          .invalidSchema, "two tables or indexes would be called \(name)",
          hint: "rename a table or column in a copy of the database (ALTER TABLE … RENAME)")
      }
    }
  }

  /// Why a table of SQLite's has no definition; nil when nothing stands in the way.
  static func obstacle(of name: String, on connection: Connection) throws -> String? {
    let parts = try parts(connection)
    var schema = SourceSchema(unread: connection)
    var covered: Set<String> = []
    for part in parts where part.type == "table" && !part.name.lowercased().hasPrefix("godwit_") {
      schema.tables.append(try schema.table(part, &covered))
    }
    try schema.settleReferences()
    return schema.tables.first { $0.name.lowercased() == name.lowercased() }?.reason
  }

  private init(unread source: any SourceRows) { self.source = source }

  private static let types: Set<String> = ["table", "index", "view", "trigger"]
  /// SQLite's own tables.
  private static let ownTables: Set<String> = [
    "sqlite_sequence", "sqlite_stat1", "sqlite_stat2", "sqlite_stat3", "sqlite_stat4",
  ]

  /// Throws `damagedDatabase` for a schema that was written by hand so that it hides what it has.
  private static func parts(_ source: any SourceRows) throws -> [Part] {
    try source.rows("SELECT type, name, sql FROM sqlite_master ORDER BY rowid").compactMap { row in
      let part = Part(type: row.text(at: 0), name: row.text(at: 1), sql: row.text(at: 2))
      let isOwn = ASCIICase.upper(part.name).hasPrefix("SQLITE_")
      let isKnown = part.type == "table" ? ownTables.contains(part.name) : part.type == "index" && row.isNull(at: 2)
      let words = part.type == "table" ? SQLWords(part.sql) : nil
      let isTable =
        words.map { $0.starts(with: "CREATE", "TABLE") || $0.starts(with: "CREATE", "VIRTUAL", "TABLE") } ?? true
      guard types.contains(part.type), !isOwn || isKnown, isTable else {
        throw GodwitError(
          .damagedDatabase, "the database's schema has a \(part.type) \(part.name) that is none",
          hint: "mend it, or take an earlier copy")
      }
      return isOwn ? nil : part
    }
  }

  /// Adds to `covered` the names of the indexes that the table has here, too.
  private func table(_ part: Part, _ covered: inout Set<String>) throws -> Table {
    let columns = try columns(of: part.name)
    guard !columns.isEmpty else {
      throw GodwitError(
        .damagedDatabase, "the database's schema names a table \(part.name) that is not there",
        hint: "mend it, or take an earlier copy")
    }
    let words = SQLWords(part.sql)
    var indexes = try indexes(of: part.name)
    covered.formUnion(indexes.names)
    var table = Table(name: part.name, sql: part.sql, columns: columns, words: words)
    table.leftOut = Self.leftOut(of: words, columns) + indexes.lost
    table.hasKey = try allHaveKeys(table)
    if !table.key.isEmpty, !table.hasKey {
      indexes.add(IndexDefinition(columns: table.key.map(\.name), isUnique: true))
    }
    table.indexes = indexes.plain
    do {
      table.definition = try definition(of: table)
    } catch let obstacle as Obstacle {
      table.reason = obstacle.reason
    } catch let error as GodwitError where error.code == .invalidSchema {
      table.reason = error.message
    }
    return table
  }

  /// A table that refers to a plain one must be plain, too, for definitions refer to definitions.
  private mutating func settleReferences() throws {
    var referring: [String: [Int]] = [:]
    for (index, table) in tables.enumerated() {
      for column in table.definition?.columns ?? [] {
        if let reference = column.reference { referring[reference.table.lowercased(), default: []].append(index) }
      }
    }
    try settleTypes()
    let known = Set(tables.compactMap { $0.definition?.name.lowercased() })
    var due = referring.keys.filter { !known.contains($0) }
    while let target = due.popLast() {
      for index in referring[target] ?? [] where tables[index].definition != nil {
        tables[index].definition = nil
        tables[index].reason = "it refers to a plain table"
        due.append(tables[index].name.lowercased())
      }
    }
  }
}

/// The names of another program's database that nothing has here (Specs/encoding.md, "Names").
private struct SourceNames {
  private static let shownLimit = 10
  private var problems: [String] = []

  mutating func check(_ name: String, _ what: String, of table: String? = nil) {
    // A database that was left with has the collections of its replica.
    let owner = table ?? name
    do {
      try SchemaName.check(name, what, isOfCollection: owner.lowercased().hasPrefix(CollectionTable.prefix))
    } catch {
      let place = table.map { " of table \($0)" } ?? ""
      problems.append("\((error as? GodwitError)?.message ?? what)\(place)")
    }
  }

  /// Throws `invalidSchema` that says what to rename.
  func requireNone() throws {
    guard !problems.isEmpty else { return }
    let more = problems.count > Self.shownLimit ? "; and \(problems.count - Self.shownLimit) more" : ""
    throw GodwitError(
      .invalidSchema, problems.prefix(Self.shownLimit).joined(separator: "; ") + more,
      hint: "rename them in a copy of the database (ALTER TABLE … RENAME); \(SchemaName.hint)")
  }
}

extension SourceSchema {
  /// A reference is of its key's type, or no row of another replica's could keep it. One without a type gets that where
  /// its values allow it; otherwise its table is plain. Linear in the columns of all tables.
  private mutating func settleTypes() throws {
    let names = tables.map { $0.name.lowercased() }
    let places = Dictionary(zip(names, tables.indices), uniquingKeysWith: { first, _ in first })
    for index in inOrderOfKeys(places) {
      while let (number, type) = misfit(at: index, places), try take(type, number, at: index) {}
    }
    // Keys that refer to one another in a ring may have taken types past each other.
    for index in tables.indices {
      guard let (number, _) = misfit(at: index, places), let definition = tables[index].definition else { continue }
      makePlain(at: index, definition.columns[number].name)
    }
  }

  /// The places of all tables, each behind the one whose key its own key is, but in a ring.
  private func inOrderOfKeys(_ places: [String: Int]) -> [Int] {
    var order: [Int] = []
    var seen: Set<Int> = []
    for start in tables.indices {
      var chain: [Int] = []
      var next: Int? = start
      while let index = next, seen.insert(index).inserted {
        chain.append(index)
        next = tables[index].definition?.columns[0].reference.flatMap { places[$0.table.lowercased()] }
      }
      order += chain.reversed()
    }
    return order
  }

  /// A column that is of another type than the key that it refers to, and that type.
  private func misfit(at index: Int, _ places: [String: Int]) -> (column: Int, type: ColumnType)? {
    for (number, column) in (tables[index].definition?.columns ?? []).enumerated() {
      guard let place = column.reference.flatMap({ places[$0.table.lowercased()] }),
        let type = tables[place].definition?.columns[0].type, type != column.type
      else { continue }
      return (number, type)
    }
    return nil
  }

  /// Gives a column the type where its values allow it, and makes its table plain otherwise. Returns whether the column
  /// has it.
  private mutating func take(_ type: ColumnType, _ number: Int, at index: Int) throws -> Bool {
    guard let definition = tables[index].definition else { return false }
    let column = definition.columns[number]
    let present = try tables[index].columns.first { $0.name == column.name }.map {
      try classes(of: $0, in: tables[index])
    }
    let takesType = present.map { $0.isEmpty || column.type == .any && $0 == ["\(type)"] } ?? false
    guard takesType, let changed = try? definition.setting(type, ofColumn: number) else {
      makePlain(at: index, column.name)
      return false
    }
    tables[index].definition = changed
    return true
  }

  private mutating func makePlain(at index: Int, _ column: String) {
    tables[index].definition = nil
    tables[index].reason = "column \(column) is not of the type of the key that it refers to"
  }
}
