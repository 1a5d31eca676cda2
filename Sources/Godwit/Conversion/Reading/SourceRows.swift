import GodwitBase
import GodwitStorage

/// Gives the rows of another program's database, which is read in this process or in another one.
protocol SourceRows {
  /// All rows of a statement about the schema, or that gives few.
  ///
  /// Throws `valueMismatch` for text that is not UTF-8.
  func rows(_ sql: String, authority: Authority) throws -> [[Value]]

  /// Runs the other statement with each row that this one gives, value by value as they are stored, and `afterRow`
  /// after each.
  func copy(_ sql: String, through insert: Statement, afterRow: () throws -> Void) throws
}

extension SourceRows {
  func rows(_ sql: String) throws -> [[Value]] { try rows(sql, authority: .trusted) }

  /// Whether no row of the table has NULL in one of these columns.
  func hasValues(in columns: [String], of table: String) throws -> Bool {
    guard !columns.isEmpty else { return true }
    let condition = columns.map { "\(SQLName.quoted($0)) IS NULL" }.joined(separator: " OR ")
    return try rows("SELECT 1 FROM \(SQLName.quoted(table)) WHERE \(condition) LIMIT 1").isEmpty
  }

  /// What is damaged, in words; nil when nothing is. Indexes by what the database's own program alone has, a collation
  /// or a function, cannot be compared with their tables; nothing is read by them either.
  func integrityProblem() throws -> String? {
    do {
      let problem = try problem("integrity_check")
      guard try problem != nil && namesUnknownCollations() else { return problem }
    } catch let error as GodwitError where error.code == .sql {
      // A function that nobody knows.
    }
    _ = try rows("PRAGMA ignore_check_constraints = 1")
    return try problem("quick_check")
  }

  private func problem(_ check: String) throws -> String? {
    let first = try rows("PRAGMA \(check)(1)").first?.text(at: 0)
    return first == "ok" ? nil : first ?? "its check says nothing"
  }

  /// Whether a collation has been met that SQLite does not have: opening a database has made it then.
  private func namesUnknownCollations() throws -> Bool {
    let own: Set<String> = ["BINARY", "NOCASE", "RTRIM"]
    return try rows("PRAGMA collation_list").contains { !own.contains($0.text(at: 1)) }
  }
}

extension Connection: SourceRows {
  func rows(_ sql: String, authority: Authority) throws -> [[Value]] {
    try withStatement(sql, authority: authority) { statement in
      var rows: [[Value]] = []
      while try statement.step() {
        rows.append(try (0..<Int32(statement.columnCount)).map { try statement.value(at: $0) })
      }
      return rows
    }
  }

  func copy(_ sql: String, through insert: Statement, afterRow: () throws -> Void) throws {
    try withStatement(sql) { reading in
      while try reading.step() {
        try insert.bindColumns(of: reading)
        try insert.run()
        try afterRow()
      }
    }
  }
}

/// A row's values as SQLite converts them; where there is none, as it does NULL.
extension [Value] {
  func text(at index: Int) -> String {
    guard indices.contains(index) else { return "" }
    return switch self[index] {
    case .null: ""
    case .integer(let number): String(number)
    case .real(let number): String(number)
    case .text(let text): text
    case .blob(let bytes): String(decoding: bytes, as: UTF8.self)
    }
  }

  func integer(at index: Int) -> Int64 {
    guard indices.contains(index), case .integer(let number) = self[index] else { return 0 }
    return number
  }

  func isNull(at index: Int) -> Bool { !indices.contains(index) || self[index] == .null }
}
