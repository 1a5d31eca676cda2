import Foundation
import GodwitBase
import GodwitFiles
import GodwitKeys
import GodwitModel
import GodwitStorage

extension Replica.Maintenance {
  /// Writes the user's tables as a SQLite database **without encryption**, for leaving: whoever reads the file reads
  /// all of it.
  ///
  /// It has the tables with the rows that they show now, their indexes, views and the program's own triggers; nothing
  /// of Godwit's own: no change log, conflicts, keys or members. Rows in limbo are not shown, so they are not in it.
  /// Virtual tables are not either, and the report names what is left out of them. Others continue to read and write
  /// meanwhile.
  ///
  /// A process that is killed meanwhile leaves nothing of it, but for file systems that have no files without names
  /// (FAT, NFS): there one that is killed while the whole is copied to its place leaves a part of that, in
  /// `FILE.RANDOM.tmp`, which the next export to the file removes.
  ///
  /// - Parameters:
  ///   - path: The file, which must not exist; outside of the replica's folder.
  ///   - progress: Called with how much is done.
  /// - Throws: `invalidArgument` for a file that exists, or lies in the replica's folder; `unsafeFile` for one in a
  ///   folder where others could exchange it: writable by them, without the sticky bit; `diskFull`, `fileAccess`.
  public func exportPlaintext(to path: String, progress: ProgressHandler? = nil) async throws -> Replica.PlaintextReport
  {
    let folder = replica.folder
    let report = try await replica.pool.read { connection in
      try folder.requireOutside(path)
      // The file is opened by its name, which nobody else may exchange.
      try ParentFolders.check(of: path, besideOthers: true)
      guard !PrivateFile.exists(path) else { throw Self.exists(path) }
      try Leftovers.remove(of: path)
      let file = try PendingFile(replacing: path)
      let report = try Self.copyPlaintext(from: connection, to: file, progress)
      guard try file.commitNew() else { throw Self.exists(path) }
      return report
    }
    progress?(1)
    replica.logger.notice("wrote the tables without encryption", metadata: ["path": "\(path)"])
    return report
  }

  /// SQLite opens a file by its name alone; once it has, the name goes, before anything is in the file. The connection
  /// is closed in the end.
  private static func copyPlaintext(
    from connection: Connection, to file: PendingFile, _ progress: ProgressHandler?
  ) throws -> Replica.PlaintextReport {
    let target = try Connection(plaintext: file.temporaryPath, mode: .copy)
    try file.removeName()
    return try PlaintextCopy(from: connection, to: target, progress).run()
  }

  private static func exists(_ path: String) -> GodwitError {
    GodwitError(.invalidArgument, "\(path) exists already", hint: "choose another name, or remove it first")
  }
}

extension Replica {
  /// What was written without encryption.
  public struct PlaintextReport: Sendable {
    /// How many tables.
    public let tables: Int
    /// How many rows.
    public let rows: Int
    /// Virtual tables, and what is of them: their own tables, indexes, and triggers that name them.
    public let leftOut: [String]
  }
}

/// Makes the user's part of a database anew in another one.
private struct PlaintextCopy {
  private struct Part {
    let type: String
    let name: String
    /// The table or view that it belongs to.
    let table: String
    let sql: String
  }

  private let source: Connection
  private let target: Connection
  private let progress: ProgressHandler?

  init(from source: Connection, to target: Connection, _ progress: ProgressHandler?) {
    self.source = source
    self.target = target
    self.progress = progress
  }

  func run() throws -> Replica.PlaintextReport {
    let parts = try parts()
    let catalog = try Catalog(source)
    let virtual = VirtualTables(parts.map { ($0.name, $0.sql) })
    // What Godwit knows as a table is one, whatever it is called.
    let gone = Set(parts.filter { catalog[$0.name] == nil && virtual.own($0.name) }.map { $0.name.lowercased() })
    let kept = parts.filter { part in
      !gone.contains(part.table.lowercased()) && !(part.type == "trigger" && Self.names(gone, in: part.sql))
    }
    let tables = kept.filter { $0.type == "table" }
    try target.setForeignKeys(false)
    try target.execute("BEGIN")
    // Without a table SQLite would write no page, and an empty file is no database to others.
    try target.execute("PRAGMA user_version = 0")
    // Without what merges ask of values: other programs have none of the functions.
    for table in tables {
      let plain = catalog[table.name].flatMap { $0.definition.withoutMerges == $0.definition ? nil : $0.definition }
      try target.execute(plain?.withoutMerges.creationStatement(as: table.name) ?? table.sql)
    }
    var rows = 0
    for (index, table) in tables.enumerated() {
      try source.checkCancellation()
      let columns = try columns(of: table.name)
      let key = columns.filter { $0.keyPlace > 0 }.map(\.name)
      let hasKey = try source.hasValues(in: key, of: table.name)
      rows += try TableCopy(table.name, columns.map(\.name), key: hasKey ? key : []).run(from: source, to: target)
      progress?(Double(index + 1) / Double(tables.count + 1))
    }
    try TableCopy.copyNumbering(of: tables.map(\.name), from: source, to: target)
    for type in ["index", "view", "trigger"] {
      for part in kept where part.type == type { try target.execute(part.sql) }
    }
    try target.execute("COMMIT")
    if let problem = try target.integrityProblems(limit: 1).first {
      throw GodwitError(.damagedDatabase, "the file that was written is damaged: \(problem)", hint: "try again")
    }
    let names = Set(kept.map(\.name))
    return Replica.PlaintextReport(
      tables: tables.count, rows: rows, leftOut: parts.map(\.name).filter { !names.contains($0) })
  }

  /// Whether a statement names one of the tables, as a word or in quotes.
  private static func names(_ tables: Set<String>, in sql: String) -> Bool {
    let words = SQLWords(sql)
    let sql = sql.lowercased()
    return tables.contains { table in
      words.contains(ASCIICase.upper(table))
        || ["\"\(table)\"", "'\(table)'", "[\(table)]", "`\(table)`"].contains(where: sql.contains)
    }
  }

  /// What is neither Godwit's nor SQLite's own.
  private func parts() throws -> [Part] {
    let sql = """
      SELECT type, name, tbl_name, sql FROM sqlite_master WHERE sql IS NOT NULL
      AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
      AND name NOT LIKE 'godwit\\_%' ESCAPE '\\' AND tbl_name NOT LIKE 'godwit\\_%' ESCAPE '\\' ORDER BY rowid
      """
    return try source.withStatement(sql) { statement in
      var parts: [Part] = []
      while try statement.step() {
        parts.append(
          Part(
            type: try statement.text(at: 0), name: try statement.text(at: 1), table: try statement.text(at: 2),
            sql: try statement.text(at: 3)))
      }
      return parts
    }
  }

  private func columns(of table: String) throws -> [(name: String, keyPlace: Int64)] {
    try source.rows("PRAGMA table_info(\(SQLName.quoted(table)))").map { ($0.text(at: 1), $0.integer(at: 5)) }
  }
}
