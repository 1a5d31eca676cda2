import GodwitBase
import GodwitReplication
import GodwitStorage

/// What another program's database consists of, and as what each part comes here (Specs/conversion.md, "Tables").
struct SourceSchema {
  struct Table {
    let name: String
    /// The statement that made it there.
    let sql: String
    /// The columns that an INSERT may name.
    let columns: [String]
    /// What it becomes here; nil for a table that stays as its statement says, which Godwit knows nothing of.
    var definition: TableDefinition?
    /// Why there is none.
    var reason: String?
    /// The indexes that the definition has taken over.
    var covered: [String] = []
  }

  struct Part {
    let type: String
    let name: String
    let sql: String
  }

  private(set) var tables: [Table] = []
  /// Indexes that no definition has, views and triggers, in this order.
  private(set) var rest: [Part] = []
  /// Virtual tables, with the tables they keep their content in.
  private(set) var leftOut: [String] = []
  let source: any SourceRows

  /// Throws `invalidSchema` for names that are Godwit's, and for such as nothing has here.
  init(_ source: any SourceRows) throws {
    self.source = source
    let parts = try Self.parts(source)
    for part in parts where part.name.lowercased().hasPrefix("godwit_") {
      throw GodwitError(
        .invalidSchema, "the database has a \(part.type) \(part.name), a name that is Godwit's own",
        hint: "rename it in the database")
    }
    let virtual = VirtualTables(parts.map { ($0.name, $0.sql) })
    // Before anything is read of what has them.
    var names = SourceNames()
    for part in parts where !virtual.own(part.name) { names.check(part.name, part.type) }
    try names.requireNone()
    for part in parts where part.type == "table" {
      if virtual.own(part.name) { leftOut.append(part.name) } else { tables.append(try table(part)) }
    }
    for table in tables { for column in table.columns { names.check(column, "column", of: table.name) } }
    try names.requireNone()
    settleReferences()
    let covered = Set(tables.filter { $0.definition != nil }.flatMap(\.covered))
    let known = Set(tables.compactMap(\.definition).flatMap { table in table.indexes.map { table.indexName($0) } })
    for type in ["index", "view", "trigger"] {
      for part in parts where part.type == type && !virtual.own(part.name) && !covered.contains(part.name) {
        guard !known.contains(part.name) else {
          throw GodwitError(
            .invalidSchema, "the database has an index \(part.name), a name that another index is going to have",
            hint: "rename it in the database")
        }
        rest.append(part)
      }
    }
  }

  /// Why a table of SQLite's has no definition; nil when nothing stands in the way.
  static func obstacle(of name: String, on connection: Connection) throws -> String? {
    let parts = try parts(connection)
    var schema = SourceSchema(parts: [], on: connection)
    for part in parts where part.type == "table" && !part.name.lowercased().hasPrefix("godwit_") {
      schema.tables.append(try schema.table(part))
    }
    schema.settleReferences()
    return schema.tables.first { $0.name.lowercased() == name.lowercased() }?.reason
  }

  private init(parts: [Part], on source: any SourceRows) {
    self.source = source
    rest = parts
  }

  private static func parts(_ source: any SourceRows) throws -> [Part] {
    let sql = "SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid"
    return try source.rows(sql).map { Part(type: $0.text(at: 0), name: $0.text(at: 1), sql: $0.text(at: 2)) }
  }

  private func table(_ part: Part) throws -> Table {
    let columns = try columns(of: part.name)
    var table = Table(name: part.name, sql: part.sql, columns: columns.map(\.name), definition: nil, reason: nil)
    do {
      let (definition, indexes) = try definition(part, columns)
      table.definition = definition
      table.covered = indexes
    } catch let obstacle as Obstacle {
      table.reason = obstacle.reason
    } catch let error as GodwitError where error.code == .invalidSchema {
      table.reason = error.message
    }
    return table
  }

  /// A table that refers to one which stays as it is must stay so too, for definitions refer to definitions.
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
        tables[index].reason = "it refers to a table that stays as it is"
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
