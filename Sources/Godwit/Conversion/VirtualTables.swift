import GodwitBase

/// The virtual tables of a database, which are code in part, with the tables that SQLite's own modules keep their
/// content in: full text search 3 to 5 and R-trees.
struct VirtualTables {
  /// The names of them and of their own tables, in small letters.
  private let names: Set<String>

  /// By modules (sqlite.org, "FTS3 and FTS4", "FTS5" and "The R*Tree Module": the shadow tables of each).
  private static let modules = [
    "FTS3": ["content", "segments", "segdir"], "FTS4": ["content", "segments", "segdir", "docsize", "stat"],
    "FTS5": ["data", "idx", "content", "docsize", "config"], "RTREE": ["node", "rowid", "parent"],
    "RTREE_I32": ["node", "rowid", "parent"], "GEOPOLY": ["node", "rowid", "parent"],
  ]

  /// - Parameter parts: Names, and the statements that made them.
  init(_ parts: some Sequence<(name: String, sql: String)>) {
    names = parts.reduce(into: []) { names, part in
      guard SQLWords(part.sql).starts(with: "CREATE", "VIRTUAL", "TABLE") else { return }
      // One that is quoted, or of a program's own, may be any.
      let using = /\bUSING\s+([A-Za-z0-9_]+)/.ignoresCase()
      let module = part.sql.firstMatch(of: using).flatMap { Self.modules[$0.output.1.uppercased()] }
      let name = part.name.lowercased()
      names.insert(name)
      names.formUnion((module ?? Self.modules.values.flatMap(\.self)).map { "\(name)_\($0)" })
    }
  }

  /// Whether the name is one of them, or of a table that belongs to one.
  func own(_ name: String) -> Bool { names.contains(name.lowercased()) }
}
