import Foundation
import GodwitBase
import GodwitStorage
import Testing

@Suite("A statement")
struct StatementTests {
  private let database: TestDatabase
  private let connection: Connection

  init() throws {
    database = try TestDatabase()
    connection = try database.connect()
    try connection.execute("CREATE TABLE t (a, b)")
  }

  private static let values: [Value] = [
    .null, .integer(.min), .integer(.max), .integer(0), .real(-0.0), .real(.infinity), .real(-.infinity),
    .real(.leastNonzeroMagnitude), .real(.greatestFiniteMagnitude), .text(""), .text("a\0b"), .text("e\u{301}"),
    .text("\u{E9}"), .text("1"), .real(1), .integer(1), .blob([]), .blob([0]),
    .blob(Array(repeating: 9, count: 100_000)),
  ]

  @Test("gives back every value as it was bound, its storage class included", arguments: values)
  func roundTrip(value: Value) throws {
    try connection.run("INSERT INTO t (a) VALUES (?)", [value])
    #expect(try connection.scalar("SELECT a FROM t") == value)
  }

  @Test("gives back every value that was bound from its encoded form")
  func borrowed() throws {
    for value in Self.values {
      var writer = ByteWriter()
      writer.value(value)
      writer.value(.integer(-5))
      try connection.withStatement("INSERT INTO t VALUES (?, ?)") { statement in
        try writer.bytes.withUnsafeBytes { try statement.bindBorrowed(encoded: $0) }
        try writer.bytes.withUnsafeBytes { bytes in
          try statement.bindBorrowed(encoded: bytes)
          try statement.run()
        }
      }
      #expect(try connection.scalar("SELECT a FROM t WHERE b = -5") == value)
      try connection.run("DELETE FROM t")
    }
  }

  @Test("refuses NaN instead of storing NULL")
  func nan() throws {
    #expect(code { try connection.run("INSERT INTO t (a) VALUES (?)", [.real(.nan)]) } == .valueNotStorable)
    #expect(try connection.scalar("SELECT count(*) FROM t") == .integer(0))
  }

  @Test("that is long is shown in an error by its start and its length")
  func longStatement() throws {
    let long = "SELECT x, '\(String(repeating: "a", count: 400_000))' FROM t"
    do {
      try connection.run(long)
      Issue.record("the statement ran")
    } catch let error as GodwitError {
      #expect(error.code == .sql && error.message.utf8.count < 1_200)
      #expect(error.message.contains("in: SELECT x, 'aaa") && error.message.hasSuffix("… (\(long.utf8.count) bytes)"))
    }
    do {
      try connection.run("SELECT x FROM t")
      Issue.record("the statement ran")
    } catch let error as GodwitError {
      #expect(error.message.hasSuffix("in: SELECT x FROM t"))
    }
  }

  @Test("that is larger than SQLite takes is refused for its size", arguments: OversizedStatement.allCases)
  func limits(_ statement: OversizedStatement) throws {
    #expect(code { try connection.scalar(statement.sql) } == .limitExceeded)
  }

  @Test("wants as many values as it has places", arguments: [0, 1, 3])
  func valueCount(count: Int) throws {
    let values = Array(repeating: Value.integer(1), count: count)
    #expect(code { try connection.run("INSERT INTO t VALUES (?, ?)", values) } == .sql)
  }

  @Test("may run inside itself")
  func nested() throws {
    try connection.execute("INSERT INTO t VALUES (1, 2), (2, 3), (3, 4)")
    let sql = "SELECT b FROM t WHERE a >= ? ORDER BY a"
    var seen: [[Int64]] = []
    try connection.withStatement(sql) { outer in
      try outer.bind([.integer(1)])
      while try outer.step() {
        try connection.withStatement(sql) { inner in
          #expect(inner !== outer)
          try inner.bind([.integer(outer.integer(at: 0))])
          while try inner.step() { seen.append([outer.integer(at: 0), inner.integer(at: 0)]) }
        }
      }
    }
    #expect(seen == [[2, 3], [2, 4], [3, 4]])
  }

  @Test("is compiled once and used again, without the values of the time before")
  func cached() throws {
    let sql = "SELECT ?"
    let first = try connection.borrow(sql)
    try first.bind([.text("old")])
    connection.giveBack(first)
    let second = try connection.borrow(sql)
    #expect(first === second)
    #expect(try second.step() && second.value(at: 0) == .null)
    connection.giveBack(second)
  }

  @Test("outlives many others, and a change of the schema")
  func manyStatements() throws {
    for number in 0..<400 { #expect(try connection.scalar("SELECT \(number)") == .integer(Int64(number))) }
    #expect(try connection.scalar("SELECT count(*) FROM t") == .integer(0))
    try connection.execute("ALTER TABLE t ADD COLUMN c DEFAULT 5; INSERT INTO t (a) VALUES (1)")
    #expect(try connection.scalar("SELECT count(*) FROM t") == .integer(1))
    #expect(try connection.scalar("SELECT c FROM t") == .integer(5))
  }

  @Test("reports where it failed and leaves the connection as good as new")
  func failures() throws {
    try connection.execute("CREATE UNIQUE INDEX i ON t (a)")
    try connection.run("INSERT INTO t VALUES (1, 1)")
    #expect(code { try connection.run("INSERT INTO t VALUES (1, 2)") } == .constraint)
    #expect(code { try connection.run("SELECT nonsense FROM t") } == .sql)
    #expect(code { try connection.run("") } == .sql)
    try connection.run("INSERT INTO t VALUES (2, 2)")
    #expect(try connection.scalar("SELECT count(*) FROM t") == .integer(2))
  }

  @Test("in a savepoint that throws is taken back, and nothing before it")
  func savepoints() throws {
    struct Stop: Error {}
    try connection.execute("BEGIN")
    try connection.run("INSERT INTO t VALUES (1, 1)")
    try connection.savepoint {
      try connection.run("INSERT INTO t VALUES (2, 2)")
      #expect(throws: Stop.self) {
        try connection.savepoint {
          try connection.run("DELETE FROM t")
          try connection.savepoint { try connection.run("INSERT INTO t VALUES (9, 9)") }
          throw Stop()
        }
      }
    }
    try connection.execute("COMMIT")
    #expect(try connection.scalar("SELECT group_concat(a) FROM t") == .text("1,2"))
  }
}

/// Statements that would be right if there were less of them.
enum OversizedStatement: CaseIterable, Sendable {
  case columns, sum, nesting, compound, join, values, result

  var sql: String {
    switch self {
    case .columns: "SELECT \(Self.list("1", 2_001, ", "))"
    case .sum: "SELECT \(Self.list("1", 1_002, " + "))"
    case .nesting: "SELECT \(Self.list("-(", 200, ""))1\(Self.list(")", 200, ""))"
    case .compound: Self.list("SELECT 1", 501, " UNION ALL ")
    case .join: "SELECT 1 FROM \(Self.list("t", 65, ", "))"
    case .values: "SELECT 1 IN (\(Self.list("?", 300_000, ", ")))"
    case .result: "SELECT zeroblob(2000000000)"
    }
  }

  private static func list(_ part: String, _ count: Int, _ between: String) -> String {
    Array(repeating: part, count: count).joined(separator: between)
  }
}
