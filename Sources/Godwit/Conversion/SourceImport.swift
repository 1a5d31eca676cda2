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
        try runForeign(table.sql, of: "table \(table.name)")
      }
    }
    try writer.reload()
    var tables: [ConversionReport.Table] = []
    for (index, table) in schema.tables.enumerated() {
      try writer.connection.checkCancellation()
      let rows = try TableCopy(table.name, table.columns).run(from: source, to: connection)
      tables.append(ConversionReport.Table(name: table.name, rows: rows, obstacle: table.reason))
      progress?(Double(index + 1) / Double(schema.tables.count))
    }
    try TableCopy.copyNumbering(from: source, to: connection)
    for part in schema.rest { try runForeign(part.sql, of: "\(part.type) \(part.name)") }
    try checkReferences()
    try writer.reload()
    return ConversionReport(tables: tables, leftOut: schema.leftOut)
  }

  /// SQL of another program's has no more authority than a user's.
  private func runForeign(_ sql: String, of what: String) throws {
    do {
      let statement = try connection.borrow(sql, authority: .user)
      try statement.run()
    } catch let error as GodwitError {
      throw GodwitError(
        error.code, "\(what) cannot be made here: \(error.message)",
        hint: "change or drop it in a copy of the database", underlying: error)
    }
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

  /// Numbers that were given away once are not given again.
  static func copyNumbering(from source: some SourceRows, to target: Connection) throws {
    let isThere = "SELECT 1 FROM sqlite_master WHERE name = 'sqlite_sequence'"
    guard try !source.rows(isThere).isEmpty, try target.scalar(isThere) != nil else { return }
    for row in try source.rows("SELECT name, seq FROM sqlite_sequence") where row.count == 2 {
      guard try target.scalar("SELECT 1 FROM sqlite_master WHERE name = ?", [row[0]]) != nil else { continue }
      try target.run("DELETE FROM sqlite_sequence WHERE name = ?", [row[0]])
      try target.run("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", row)
    }
  }
}
