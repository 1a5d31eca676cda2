import Godwit
import ToolSupport

/// What a line that begins with a dot asks the shell for.
enum DotCommand {
  case tables
  case schema(table: String?)
  case mode(RowFormat)
  case help
  case quit

  /// Reads a line.
  ///
  /// - Throws: `invalidArgument`.
  init(_ line: String) throws {
    let words = line.split { $0.isWhitespace || $0 == ";" }.map(String.init)
    let argument = words.dropFirst().first
    switch (words.first ?? "", argument, words.count) {
    case (".tables", nil, _): self = .tables
    case (".schema", let table, ...2): self = .schema(table: table)
    case (".mode", let name?, 2):
      guard let format = RowFormat(rawValue: name) else {
        let names = RowFormat.allCases.map(\.rawValue).joined(separator: ", ")
        throw GodwitError(.invalidArgument, "there is no mode \(name)", hint: "the modes are \(names)")
      }
      self = .mode(format)
    case (".help", nil, _): self = .help
    case (".quit", nil, _): self = .quit
    default:
      throw GodwitError(
        .invalidArgument, "this is no command of the shell: \(words.joined(separator: " "))", hint: "see: .help")
    }
  }

  static let helpText = """
    statement;                   run it: rows are shown, writes are logged
    .tables                      list the tables and views
    .schema [TABLE]              show the SQL that made them
    .mode table|json|csv|line    show rows this way
    .help                        show this
    .quit                        end the shell, as Ctrl-D does

    """
}

/// What there is in a database, as the shell shows it. Godwit's own tables and SQLite's are left out.
struct ShellCatalog {
  let replica: Replica

  /// A row for each table and view: `table`, and `kind`: `synced`, `local` or `view`.
  func tables() async throws -> [Row] {
    let synced = Set(try await replica.status().tables.map(\.name))
    let rows = try await replica.rows(
      "SELECT name, type FROM sqlite_master WHERE type IN ('table', 'view') AND \(Self.isUsers) ORDER BY name")
    return rows.compactMap { row in
      guard case .text(let name)? = row["name"], let type = row["type"] else { return nil }
      let kind: Value = type == .text("view") ? type : .text(synced.contains(name) ? "synced" : "local")
      return Row(columns: ["table", "kind"], values: [.text(name), kind])
    }
  }

  /// A row for each table, view, index and trigger: `name`, and `sql`, what made it.
  ///
  /// - Parameter table: Of this table or view alone, or that of the collection with this name.
  /// - Throws: `notInSchema` when there is none of that name.
  func schema(of table: String?) async throws -> [Row] {
    let start: SQL = "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL AND \(Self.isUsers)"
    let end: SQL = "ORDER BY tbl_name, type = 'trigger', type = 'index', name"
    guard let table else { return try await replica.rows("\(start) \(end)") }
    for name in [table, (try? replica.documents(table).table) ?? table] {
      let rows = try await replica.rows("\(start) AND tbl_name = \(name) COLLATE NOCASE \(end)")
      if !rows.isEmpty { return rows }
    }
    throw GodwitError(.notInSchema, "there is no table or collection \(table)", hint: "list them with .tables")
  }

  private static let isUsers: SQL = "name NOT LIKE 'godwit\\_%' ESCAPE '\\' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
}

extension ShellCatalog {
  /// The statements as they were written, each with its semicolon.
  static func lines(ofSchema rows: [Row]) -> [String] {
    rows.flatMap { row -> [String] in
      guard case .text(let sql)? = row["sql"] else { return [] }
      return "\(sql);".split(separator: "\n", omittingEmptySubsequences: false).map { Format.printable(String($0)) }
    }
  }
}
