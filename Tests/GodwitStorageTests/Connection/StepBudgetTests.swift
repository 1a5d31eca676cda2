import GodwitBase
import Testing

@testable import GodwitStorage

@Suite("A budget of steps")
struct StepBudgetTests {
  private let database: TestDatabase
  init() throws { database = try TestDatabase() }

  private static let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"

  @Test("ends what would not end by itself, with an error of its own, and is gone afterwards")
  func ends() throws {
    let connection = try database.connect()
    let failure = #expect(throws: GodwitError.self) {
      try connection.withStepBudget(100_000) { try connection.scalar(Self.endless) }
    }
    #expect(failure?.code == .limitExceeded && failure?.hint != nil)
    let short = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000) SELECT count(*) FROM n"
    #expect(try connection.scalar(short) == .integer(50_000))
  }

  @Test("is one for all statements together")
  func together() throws {
    let connection = try database.connect()
    let short = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) SELECT count(*) FROM n"
    #expect(throws: GodwitError.self) {
      try connection.withStepBudget(100_000) { for _ in 0..<100 { _ = try connection.scalar(short) } }
    }
  }

  @Test("no connection binds more values than the oldest SQLite does, or takes a longer statement")
  func limits() throws {
    let connection = try database.connect()
    let many = Array(repeating: "?", count: 1_000).joined(separator: ",")
    #expect(throws: GodwitError.self) { try connection.scalar("SELECT 1 IN (\(many))") }
    #expect(throws: GodwitError.self) {
      try connection.scalar("SELECT 1 -- \(String(repeating: "a", count: 1_000_000))")
    }
    #expect(throws: GodwitError.self) {
      try connection.scalar("SELECT 'a' LIKE '\(String(repeating: "a", count: 10_001))'")
    }
    #expect(throws: GodwitError.self) { try connection.execute("ATTACH ':memory:' AS other") }
  }

  @Test("the versions of the library are known")
  func versions() {
    #expect(LibraryVersion.sqlite.hasPrefix("3."))
    #expect(LibraryVersion.sqlcipher?.contains(".") == true)
  }
}
