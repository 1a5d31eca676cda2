import GodwitBase
import GodwitReplication
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
  }

  struct Part {
    let type: String
    let name: String
    let sql: String
  }

  private(set) var tables: [Table] = []
  /// Indexes that nothing here has, views, triggers and virtual tables with those that they keep their content in.
  private(set) var leftOut: [ConversionReport.Part] = []
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
          .invalidSchema, "the database has a table \(part.name), a name that is Godwit's own", hint: "rename it in the database")
      }
      names.check(part.name, "table")
    }
    try names.requireNone()
    var covered: Set<String> = []
    for part in kept { tables.append(try table(part, &covered)) }
    for table in tables { for column in table.columns { names.check(column.name, "column", of: table.name) } }
    try names.requireNone()
    settleReferences()
    try requireDistinctNames()
    leftOut = parts.compactMap { part in
      if virtual.own(part.name) { return ConversionReport.Part(kind: .virtualTable, name: part.name, sql: part.sql) }
      guard let kind = ConversionReport.Part.Kind(rawValue: part.type), !covered.contains(part.name) else { return nil }
      return ConversionReport.Part(kind: kind, name: part.name, sql: part.sql)
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
    schema.settleReferences()
    return schema.tables.first { $0.name.lowercased() == name.lowercased() }?.reason
  }

  private init(unread source: any SourceRows) { self.source = source }

  private static func parts(_ source: any SourceRows) throws -> [Part] {
    let sql = "SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid"
    return try source.rows(sql).map { Part(type: $0.text(at: 0), name: $0.text(at: 1), sql: $0.text(at: 2)) }
  }

  /// Adds to `covered` the names of the indexes that the table has here, too.
  private func table(_ part: Part, _ covered: inout Set<String>) throws -> Table {
    let columns = try columns(of: part.name)
    guard !columns.isEmpty else {
      throw GodwitError(
        .damagedDatabase, "the database's schema names a table \(part.name) that is not there", hint: "mend it, or take an earlier copy")
    }
    let (indexes, names) = try indexes(of: part.name)
    covered.formUnion(names)
    var table = Table(name: part.name, sql: part.sql, columns: columns, leftOut: Self.leftOut(of: part, columns), indexes: indexes)
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
  private mutating func settleReferences() {
    while true {
      let known = Set(tables.compactMap { $0.definition?.name.lowercased() })
      let broken = tables.indices.filter { index in
        tables[index].definition?.columns.contains {
          $0.reference.map { !known.contains($0.table.lowercased()) } ?? false
        } ?? false
      }
      guard !broken.isEmpty else { return }
      for index in broken {
        tables[index].definition = nil
        tables[index].reason = "it refers to a plain table"
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
