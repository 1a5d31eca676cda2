import GodwitBase

/// The virtual tables of a database, which are code in part, with the tables that SQLite's own modules keep their
/// content in: full text search 3 to 5 and R-trees.
struct VirtualTables {
  private let names: Set<String>

  private static let shadows = [
    "config", "content", "data", "docsize", "idx", "node", "parent", "rowid", "segdir", "segments", "stat",
  ]

  /// - Parameter parts: Names, and the statements that made them.
  init(_ parts: some Sequence<(name: String, sql: String)>) {
    names = Set(
      parts.filter { SQLWords($0.sql).starts(with: "CREATE", "VIRTUAL", "TABLE") }.map { $0.name.lowercased() })
  }

  /// Whether the name is one of them, or of a table that belongs to one.
  func own(_ name: String) -> Bool {
    let name = name.lowercased()
    return names.contains(name)
      || Self.shadows.contains { name.hasSuffix("_\($0)") && names.contains(String(name.dropLast($0.count + 1))) }
  }
}
