import GodwitBase
import GodwitModel
import GodwitReplication
import GodwitStorage

/// Brings another program's tables into a new replica, inside one transaction of the writer's with triggers and foreign
/// keys off.
struct SourceImport {
  let writer: ReplicaWriter
  let source: any SourceRows
  let schema: SourceSchema
  let progress: ProgressHandler?
  private var connection: Connection { writer.connection }

  init(writer: ReplicaWriter, source: any SourceRows, progress: ProgressHandler?) throws {
    if let problem = try source.integrityProblem() {
      throw GodwitError(
        .damagedDatabase, "the database is damaged: \(problem)", hint: "mend it, or take an earlier copy")
    }
    self.writer = writer
    self.source = source
    self.progress = progress
    schema = try SourceSchema(source)
  }

  func run() throws -> ConversionReport {
    for table in schema.tables {
      if let definition = table.definition {
        try Catalog.create(definition, on: connection)
      } else {
        try make(table.sql, "table", table.name)
      }
    }
    try writer.reload()
    // A default of a column that the source does not show runs with the rows.
    try requireFunctions(of: schema.tables.map(\.name))
    var tables: [ConversionReport.Table] = []
    for (index, table) in schema.tables.enumerated() {
      try writer.connection.checkCancellation()
      let rows = try TableCopy(table.name, table.columns).run(from: source, to: connection)
      tables.append(ConversionReport.Table(name: table.name, rows: rows, obstacle: table.reason))
      progress?(Double(index + 1) / Double(schema.tables.count))
    }
    try TableCopy.copyNumbering(of: schema.tables.map(\.name), from: source, to: connection)
    for part in schema.rest { try make(part.sql, part.type, part.name) }
    let views = schema.rest.filter { $0.type == "view" }
    try requireFunctions(of: schema.tables.map(\.name) + views.map(\.name))
    try checkReferences()
    try writer.reload()
    return ConversionReport(tables: tables, leftOut: schema.leftOut)
  }

  /// Runs a statement of the other program's, which makes what its database says that it makes, and nothing else: SQLite takes
  /// any from a schema that was written by hand.
  private func make(_ sql: String, _ type: String, _ name: String) throws {
    let count = "SELECT count(*) FROM sqlite_master WHERE sql IS NOT NULL"
    let before = try connection.scalar(count)
    do {
      try connection.compileForeign(sql, isMaking: true).run()
      let made = try connection.scalar(
        "SELECT count(*) FROM sqlite_master WHERE type = ? AND name = ? AND sql = ?", [.text(type), .text(name), .text(sql)])
      guard case .integer(let earlier)? = before, try connection.scalar(count) == .integer(earlier + 1), made == .integer(1) else {
        throw GodwitError(.invalidSchema, "the database's statement for it makes something else")
      }
    } catch let error as GodwitError {
      throw Self.refusal(of: "\(type) \(name)", error)
    }
  }

  /// Refuses views, triggers and defaults that call functions which they must not: SQLite compiles them not when they are made, but
  /// with each statement that reads or writes the rows. Checks and indexes have been compiled.
  private func requireFunctions(of names: [String]) throws {
    try connection.setTriggers(true)
    defer { try? connection.setTriggers(false) }
    for name in names {
      let columns = try SourceSchema.columns(of: name, in: connection)
      let quoted = SQLName.quoted(name)
      let same = columns.map { "\(SQLName.quoted($0.name)) = \(SQLName.quoted($0.name))" }.joined(separator: ", ")
      let statements = [
        "SELECT * FROM \(quoted)", "INSERT INTO \(quoted) DEFAULT VALUES", "UPDATE \(quoted) SET \(same)", "DELETE FROM \(quoted)",
      ]
      for sql in statements + columns.compactMap(\.defaultText).map({ "SELECT (\($0))" }) {
        do {
          _ = try connection.compileForeign(sql)
        } catch let error as GodwitError where !error.message.hasPrefix("cannot modify ") {
          throw Self.refusal(of: "what the database has of \(name)", error)
        } catch is GodwitError {
          // SQLite's words for a view that has no trigger to write to it, which none of the database's own stand before.
        }
      }
    }
  }

  private static func refusal(of what: String, _ error: GodwitError) -> GodwitError {
    GodwitError(
      error.code, "\(what) cannot be made here: \(error.message)", hint: "change or drop it in a copy of the database",
      underlying: error)
  }

  private func checkReferences() throws {
    let dangling = try connection.danglingReferences().map { "\($0.column) refers to no row of \($0.target)" }
    guard dangling.isEmpty else {
      throw GodwitError(
        .constraint, "FOREIGN KEY constraint failed: \(dangling.joined(separator: "; "))",
        hint: "mend the rows in a copy of the database; see PRAGMA foreign_key_check")
    }
  }
}

/// Copies the rows of one table from one connection to another, value by value as they are stored.
struct TableCopy {
  private let select: String
  private let insert: String

  init(_ table: String, _ columns: [String]) {
    let names = columns.map(SQLName.quoted).joined(separator: ", ")
    let places = columns.map { _ in "?" }.joined(separator: ", ")
    select = "SELECT \(names) FROM \(SQLName.quoted(table))"
    insert = "INSERT INTO \(SQLName.quoted(table)) (\(names)) VALUES (\(places))"
  }

  /// Returns how many rows there were.
  func run(from source: some SourceRows, to target: Connection) throws -> Int {
    var count = 0
    try target.withStatement(insert) { writing in
      try source.copy(select, through: writing) {
        count += 1
        if count.isMultiple(of: 1_024) { try target.checkCancellation() }
      }
    }
    return count
  }

  /// Numbers that were given away once are not given again. Only those of these tables: Godwit's own count, too.
  static func copyNumbering(of tables: [String], from source: some SourceRows, to target: Connection) throws {
    let names = Set(tables.map { $0.lowercased() })
    let isThere = "SELECT 1 FROM sqlite_master WHERE name = 'sqlite_sequence'"
    guard try !source.rows(isThere).isEmpty, try target.scalar(isThere) != nil else { return }
    for row in try source.rows("SELECT name, seq FROM sqlite_sequence") where row.count == 2 {
      guard case .text(let name) = row[0], case .integer = row[1], names.contains(name.lowercased()) else { continue }
      guard try target.scalar("SELECT 1 FROM sqlite_master WHERE name = ?", [row[0]]) != nil else { continue }
      try target.run("DELETE FROM sqlite_sequence WHERE name = ?", [row[0]])
      try target.run("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", row)
    }
  }
}
