import Foundation
import Godwit
import Testing

@testable import Godwit

/// Values that SQLite keeps in another form than they came in, or finds equal to others.
@Suite("Values of other classes than their column's")
struct AffinityTests {
  @Migrations.Builder private static func tables() -> [Migration] {
    Migration(1, "tables") {
      $0.create("parent") { $0.column("id", Data.self) }
      $0.create("child") {
        $0.column("id", Int.self)
        $0.column("parent", Data?.self, references: "parent", onDelete: .cascade)
      }
      $0.create("number") {
        $0.column("id", Int.self)
        $0.column("value", Int?.self)
        $0.index("value", unique: true)
      }
    }
  }

  @Test("a reference of 1.0 finds its parent 1 also where the column is of bytes")
  func bytes() async throws {
    let group = try await MigrationGroup([1, 1], Self.tables)
    try await group.write(0, "INSERT INTO parent VALUES (1)")
    try await group.exchange()
    try await group.write(0, "DELETE FROM parent")
    try await group.write(1, "INSERT INTO child VALUES (7, 1.0)")
    try await group.exchange()
    for number in 0...1 { #expect(try await group.rows(number, "SELECT * FROM child").isEmpty) }
    try await group.expectSame()
    try await group.write(0, "INSERT INTO parent VALUES (1)")
    try await group.exchange()
    for number in 0...1 { #expect(try await group.rows(number, "SELECT id FROM child") == [[7]]) }
    try await group.expectSame()
  }

  @Test("a key of bytes that is 1.0 is refused, as one of any class is")
  func key() async throws {
    let group = try await MigrationGroup([1], Self.tables)
    #expect(await code { try await group.write(0, "INSERT INTO parent VALUES (1.0)") } == .constraint)
  }

  @Test("a text that is a number beyond REAL is infinite, on every replica alike")
  func beyondReal() async throws {
    #expect(Value.text("1e400").stored(as: .integer, isKey: false) == .real(.infinity))
    #expect(Value.text(" -1e999 ").stored(as: .real, isKey: false) == .real(-.infinity))
    #expect(Value.text("inf").stored(as: .real, isKey: false) == .text("inf"))
    let group = try await MigrationGroup([1], Self.tables)
    let replica = group[0]
    try await replica.write { _ = try $0.execute("CREATE TABLE kept (a INTEGER, b REAL)") }
    try await replica.write { _ = try $0.execute("INSERT INTO kept VALUES ('1e400', '1e400')") }
    #expect(try await replica.rows("SELECT * FROM kept").map(\.values) == [[.real(.infinity), .real(.infinity)]])
  }
}
