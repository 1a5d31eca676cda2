import Godwit
import Testing

/// Random histories: replicas of different versions write, exchange files and migrate in any order.
@Suite("Mixed versions at random")
struct MixedVersionPropertyTests {
  @Migrations.Builder private static func items() -> [Migration] {
    Migration(1, "items") {
      $0.create("item") {
        $0.column("id", Int.self)
        $0.column("name", String.self, default: "n")
        $0.column("size", Int.self, default: 1)
        $0.column("old", String?.self)
        $0.column("need", String.self, default: "d")
      }
      $0.create("gone") {
        $0.column("id", Int.self)
        $0.column("a", Int.self, default: 0)
      }
    }
    Migration(2, "second") {
      $0.alter("item") {
        $0.add("slug", String.self, from: "name", by: "lower(name)", default: "")
        $0.add("stars", Int.self, default: 3)
        $0.change("size", String.self, default: "s")
      }
      $0.drop("gone")
    }
    Migration(3, "third") {
      $0.alter("item") {
        $0.drop("old")
        $0.rename("stars", to: "old")
      }
      $0.rename("item", to: "thing")
      $0.create("gone") {
        $0.column("id", Int.self)
        $0.column("b", String.self, default: "b")
      }
    }
    Migration(4, "fourth") {
      $0.alter("thing") {
        $0.drop("need")
        $0.change("old", Int.self, default: 9, by: "old * 10")
      }
      $0.alter("thing") {
        $0.add("twice", Int?.self, from: "old", by: "old * 2")
        $0.rename("name", to: "slug2")
      }
    }
  }

  /// The table, its columns and a value of each, by version.
  private static let shapes: [(table: String, columns: [(String, String)])] = [
    ("item", [("name", "'N%'"), ("size", "%"), ("old", "'o%'"), ("need", "'d%'")]),
    (
      "item",
      [
        ("name", "'N%'"), ("size", "'s%'"), ("old", "'o%'"), ("need", "'d%'"),
        ("slug", "'g%'"), ("stars", "%"),
      ]
    ),
    (
      "thing",
      [
        ("name", "'N%'"), ("size", "'s%'"), ("need", "'d%'"), ("slug", "'g%'"),
        ("old", "%"),
      ]
    ),
    (
      "thing",
      [
        ("slug2", "'N%'"), ("size", "'s%'"), ("slug", "'g%'"), ("old", "%"),
        ("twice", "%"),
      ]
    ),
  ]
  private static let extra = ["a = %", "", "b = 'b%'", "b = 'b%'"]

  private func write(
    _ group: MigrationGroup, _ number: Int, _ version: Int, _ random: inout SeededGenerator
  ) async throws {
    let (table, columns) = Self.shapes[version - 1]
    let id = Int.random(in: 1...3, using: &random)
    let value = Int.random(in: 0...99, using: &random)
    let column = columns.randomElement(using: &random) ?? columns[0]
    switch Int.random(in: 0..<10, using: &random) {
    case 0:
      let names = columns.map(\.0).joined(separator: ", ")
      let values = columns.map { $0.1.replacing("%", with: "\(value)") }.joined(separator: ", ")
      try await group.write(
        number, SQL(text: "INSERT OR REPLACE INTO \(table) (id, \(names)) VALUES (\(id), \(values))"))
    case 1: try await group.write(number, SQL(text: "DELETE FROM \(table) WHERE id = \(id)"))
    case 2 where version != 2:
      let set = Self.extra[version - 1].replacing("%", with: "\(value)")
      try await group.write(
        number, SQL(text: "INSERT OR IGNORE INTO gone (id) VALUES (\(id))"),
        SQL(text: "UPDATE gone SET \(set) WHERE id = \(id)"))
    default:
      try await group.write(
        number,
        SQL(text: "UPDATE \(table) SET \(column.0) = \(column.1.replacing("%", with: "\(value)")) WHERE id = \(id)"))
    }
  }

  @Test("end in one state on all replicas once all have migrated", arguments: 1...10)
  func converge(seed: Int) async throws {
    var random = SeededGenerator(seed: UInt64(seed))
    var versions = (0..<3).map { _ in Int.random(in: 1...2, using: &random) }
    let group = try await MigrationGroup(versions, Self.items)
    for id in 1...3 {
      let (table, columns) = Self.shapes[versions[0] - 1]
      let values = columns.map { $0.1.replacing("%", with: "0") }.joined(separator: ", ")
      let names = columns.map(\.0).joined(separator: ", ")
      try await group.write(0, SQL(text: "INSERT INTO \(table) (id, \(names)) VALUES (\(id), \(values))"))
    }
    try await group.exchange()
    for _ in 0..<50 {
      let number = Int.random(in: 0..<3, using: &random)
      switch Int.random(in: 0..<16, using: &random) {
      case 0..<9: try await write(group, number, versions[number], &random)
      case 9..<15: try await group.send(number, to: (number + Int.random(in: 1...2, using: &random)) % 3)
      default:
        versions[number] = min(4, versions[number] + Int.random(in: 1...2, using: &random))
        try await group.update(number, to: versions[number])
      }
    }
    for number in 0..<3 where Bool.random(using: &random) { try await group.update(number, to: 4) }
    try await group.exchange()
    for number in 0..<3 { try await group.update(number, to: 4) }
    try await group.exchange()
    try await group.expectSame()
    for replica in group.replicas { #expect(try await replica.status().heldCount == 0) }
  }
}
