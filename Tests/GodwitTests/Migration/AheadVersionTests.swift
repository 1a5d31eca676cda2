import Godwit
import Testing

/// What a clock far ahead dated, under another version, is overwritten by whoever has seen it.
@Suite("Clocks and versions")
struct AheadVersionTests {
  private static let year: Int64 = 365 * 86_400_000

  @Migrations.Builder private static func crew() -> [Migration] {
    Migration(1, "crew") {
      $0.create("crew") {
        $0.column("id", Int.self)
        $0.column("name", String.self)
      }
    }
    Migration(2, "people") {
      $0.rename("crew", to: "person")
      $0.create("badge") {
        $0.column("id", Int.self)
        $0.column("text", String.self)
      }
    }
  }

  /// The replica writes a year ahead of all others.
  private func writeAhead(_ number: Int, _ sql: SQL, in group: MigrationGroup) async throws {
    group.clock.advance(Self.year)
    try await group.write(number, sql)
    group.clock.advance(-Self.year)
  }

  @Test("a row whose table has another name since is dated later still by who changes it")
  func renamed() async throws {
    let group = try await MigrationGroup([1, 2], Self.crew)
    try await writeAhead(0, "INSERT INTO crew VALUES (1, 'Ada')", in: group)
    try await group.send(0, to: 1)
    try await group.write(1, "UPDATE person SET name = 'Bob'")
    try await group.send(1, to: 0)
    try await group.update(0, to: 2)
    #expect(try await group.rows(0, "SELECT name FROM person") == [["Bob"]])
    #expect(try await group.rows(1, "SELECT name FROM person") == [["Bob"]])
  }

  @Test("a row whose table was not there when it came is, too")
  func waited() async throws {
    let group = try await MigrationGroup([2, 1], Self.crew)
    try await writeAhead(0, "INSERT INTO badge VALUES (1, 'star')", in: group)
    try await group.send(0, to: 1)
    try await group.update(1, to: 2)
    try await group.write(1, "UPDATE badge SET text = 'moon'")
    try await group.send(1, to: 0)
    #expect(try await group.rows(0, "SELECT text FROM badge") == [["moon"]])
    #expect(try await group.rows(1, "SELECT text FROM badge") == [["moon"]])
  }

  @Test("a row that the log holds when a clock is set back is dated later still by who changes it, too")
  func setBack() async throws {
    let group = try await MigrationGroup([1, 1], Self.crew)
    try await writeAhead(0, "INSERT INTO crew VALUES (1, 'Ada')", in: group)
    try await group.update(0, to: 2)
    try await group.write(0, "UPDATE person SET name = 'Bob'")
    try await group.send(0, to: 1)
    try await group.update(1, to: 2)
    #expect(try await group.rows(1, "SELECT name FROM person") == [["Bob"]])
    #expect(try await group.rows(0, "SELECT name FROM person") == [["Bob"]])
  }
}
