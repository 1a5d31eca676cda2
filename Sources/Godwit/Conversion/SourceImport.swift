import GodwitBase
import GodwitModel
import GodwitCore
import GodwitEngine
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

  func run() throws -> Replica.ConversionReport {
    for table in schema.tables {
      if let definition = table.definition {
        try Catalog.create(definition, on: connection)
      } else {
        for sql in try schema.plain(table).creationStatements { try connection.execute(sql) }
      }
    }
    try writer.reload()
    var tables: [Replica.ConversionReport.Table] = []
    for (index, table) in schema.tables.enumerated() {
      try writer.connection.checkCancellation()
      let key = table.hasKey ? table.key.map(\.name) : []
      let rows = try TableCopy(table.name, table.columns.map(\.name), key: key).run(from: source, to: connection)
      tables.append(
        Replica.ConversionReport.Table(
          name: table.name, rows: rows, obstacle: table.reason, leftOut: table.leftOut, sql: table.sql))
      progress?(Double(index + 1) / Double(schema.tables.count))
    }
    try TableCopy.copyNumbering(of: schema.tables.map(\.name), from: source, to: connection)
    try connection.checkReferences(
      hint: "mend the rows in a copy of the database; see PRAGMA foreign_key_check")
    try writer.reload()
    return Replica.ConversionReport(tables: tables, leftOut: schema.leftOut)
  }
}
