import GodwitBase
import GodwitModel
import GodwitEngine
import GodwitStorage

/// Copies the rows of one table from one connection to another, value by value as they are stored. What is beyond the
/// columns that a statement can bind is written by further passes, by the rows' keys.
struct TableCopy {
  private let passes: [(select: String, write: String)]

  /// Throws `limitExceeded` for a table without a key that has more columns than a statement can bind.
  ///
  /// - Parameter key: Of columns that no row has NULL in; none otherwise.
  init(_ table: String, _ columns: [String], key: [String]) throws {
    let limit = TableRows.boundValueLimit
    // Names are the same when their bytes are: to Swift "é" in its two spellings is one.
    let others = columns.filter { column in !key.contains { $0.utf8.elementsEqual(column.utf8) } }
    guard key.count < limit || key.count == limit && others.isEmpty else {
      throw GodwitError(
        .limitExceeded, "table \(table) has a key of \(key.count) columns; fewer than \(limit) can be copied",
        hint: "give it a smaller key in a copy of the database")
    }
    let first = key + others.prefix(limit - key.count)
    var rest = others.dropFirst(limit - key.count)
    guard rest.isEmpty || !key.isEmpty else {
      throw GodwitError(
        .limitExceeded, "table \(table) has \(columns.count) columns and no key; \(limit) columns can be copied",
        hint: "give it a primary key in a copy of the database, or split it")
    }
    let name = SQLName.quoted(table)
    func select(_ columns: some Sequence<String>) -> String {
      "SELECT \(columns.map(SQLName.quoted).joined(separator: ", ")) FROM \(name)"
    }
    let places = first.map { _ in "?" }.joined(separator: ", ")
    let names = first.map(SQLName.quoted).joined(separator: ", ")
    var passes = [(select: select(first), write: "INSERT INTO \(name) (\(names)) VALUES (\(places))")]
    while !rest.isEmpty {
      let next = rest.prefix(limit - key.count)
      rest = rest.dropFirst(next.count)
      let assignments = next.map { "\(SQLName.quoted($0)) = ?" }.joined(separator: ", ")
      let condition = key.map { "\(SQLName.quoted($0)) IS ?" }.joined(separator: " AND ")
      passes.append((select(next + key), "UPDATE \(name) SET \(assignments) WHERE \(condition)"))
    }
    self.passes = passes
  }

  /// Returns how many rows there were.
  func run(from source: some SourceRows, to target: Connection) throws -> Int {
    var count = 0
    for pass in passes {
      count = 0
      try target.withStatement(pass.write) { writing in
        try source.copy(pass.select, through: writing) {
          count += 1
          if count.isMultiple(of: 1_024) { try target.checkCancellation() }
        }
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
