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
        for sql in try schema.plain(table).creationStatements { try connection.execute(sql) }
      }
    }
    try writer.reload()
    var tables: [ConversionReport.Table] = []
    for (index, table) in schema.tables.enumerated() {
      try writer.connection.checkCancellation()
      let rows = try TableCopy(table.name, table.columns.map(\.name)).run(from: source, to: connection)
      tables.append(
        ConversionReport.Table(name: table.name, rows: rows, obstacle: table.reason, leftOut: table.leftOut, sql: table.sql))
      progress?(Double(index + 1) / Double(schema.tables.count))
    }
    try TableCopy.copyNumbering(of: schema.tables.map(\.name), from: source, to: connection)
    try checkReferences()
    try writer.reload()
    return ConversionReport(tables: tables, leftOut: schema.leftOut)
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
      try target.run("DELETE FROM sqlite_sequence WHERE name = ?", [row[0]])
      try target.run("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", row)
    }
  }
}
