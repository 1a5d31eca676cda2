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

  /// What is damaged, in words; nil when nothing is.
  func integrityProblem() throws -> String? {
    let first = try rows("PRAGMA integrity_check(1)").first?.text(at: 0)
    return first == "ok" ? nil : first ?? "its check says nothing"
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
