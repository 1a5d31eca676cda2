import CSQLCipher
import GodwitBase

/// Says of a failed foreign key which one it was; SQLite itself does not. Used on errors only: the first looks through
/// whole tables.
extension Connection {
  /// The columns that hold the key of a row that is not there, as `table.column`, with the table they refer to.
  private func danglingReferences(in table: String?) throws -> [(column: String, target: String)] {
    let place = table.map { "(\(Self.quoted($0)))" } ?? ""
    return try withStatement("PRAGMA foreign_key_check\(place)") { statement in
      var found: [(column: String, target: String)] = []
      while try statement.step(), found.count < 100 {
        let table = try statement.text(at: 0)
        let target = try statement.text(at: 2)
        let column = try references(of: table).first { $0.number == statement.integer(at: 3) }?.column ?? "?"
        if !found.contains(where: { $0.column == column && $0.target == target }) { found.append((column, target)) }
      }
      return found
    }
  }

  /// Whether the running transaction has written a row that refers to none, or has taken away what one refers to, so
  /// that SQLite refuses to commit it.
  package var isDangling: Bool {
    var (current, highest): (Int32, Int32) = (0, 0)
    sqlite3_db_status(handle, SQLITE_DBSTATUS_DEFERRED_FKS, &current, &highest, 0)
    return current != 0
  }

  /// Throws `constraint`, naming the columns, when a row of these tables refers to none. Reads all of them that refer.
  ///
  /// - Parameter tables: Nil for all there are.
  package func checkReferences(of tables: [String]? = nil, hint: String) throws {
    let found = try tables.map { try $0.flatMap { try danglingReferences(in: $0) } } ?? danglingReferences(in: nil)
    let dangling = found.map { "\($0.column) refers to no row of \($0.target)" }
    guard dangling.isEmpty else {
      throw GodwitError(
        .constraint, "FOREIGN KEY constraint failed: \(dangling.joined(separator: "; "))", hint: hint)
    }
  }

  /// The tables that these refer to, in small letters, and of each a column that does, as `table.column`.
  package func referredTables(from tables: [String]) throws -> [String: String] {
    var referred: [String: String] = [:]
    for table in tables {
      for reference in try references(of: table) { referred[reference.target.lowercased()] = reference.column }
    }
    return referred
  }

  /// The columns of all tables that refer to this one and forbid its rows to go, as `table.column`.
  package func restrictingReferences(to table: String) throws -> [String] {
    let names = try withStatement("SELECT name FROM sqlite_master WHERE type = 'table'") { statement in
      var names: [String] = []
      while try statement.step() { names.append(try statement.text(at: 0)) }
      return names
    }
    return try names.flatMap { name in
      try references(of: name).filter { $0.target.lowercased() == table.lowercased() && $0.onDelete == "RESTRICT" }
        .map(\.column)
    }
  }

  /// The name as SQL can hold it. By scalars: to Swift a mark with an accent upon it is another character.
  static func quoted(_ name: String) -> String {
    let pieces = name.unicodeScalars.split(separator: "\"", omittingEmptySubsequences: false)
    return "\"" + pieces.map(String.init).joined(separator: "\"\"") + "\""
  }

  private func references(
    of table: String
  ) throws -> [(number: Int64, column: String, target: String, onDelete: String)] {
    try withStatement("PRAGMA foreign_key_list(\(Self.quoted(table)))") { statement in
      var found: [(number: Int64, column: String, target: String, onDelete: String)] = []
      while try statement.step() {
        found.append(
          (
            statement.integer(at: 0), "\(table).\(try statement.text(at: 3))", try statement.text(at: 2),
            try statement.text(at: 6)
          ))
      }
      return found
    }
  }
}
