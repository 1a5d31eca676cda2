import Godwit
import Testing

@testable import Godwit
@testable import GodwitEngine

/// What becomes of a value must be the same whether its row was there when the migration ran or came later.
@Suite("Values that are carried over migrations")
struct CarriedValueTests {
  @Migrations.Builder private static func prices() -> [Migration] {
    Migration(1, "prices") {
      $0.create("item") {
        $0.column("id", Int.self)
        $0.column("price", Double.self)
      }
    }
    Migration(2, "cents") {
      $0.alter("item") {
        $0.change("price", Int.self, default: 0, by: "round(price * 100)")
        $0.add("third", String.self, from: "price", by: "price / 3.0", default: "")
      }
    }
    Migration(3, "labels") { $0.alter("item") { $0.change("price", String.self, default: "") } }
  }

  @Test("the result of a rule is what its column keeps of it, in the row and on the way", arguments: [false, true])
  func stored(oneByOne: Bool) async throws {
    let group = try await MigrationGroup([1, 1], Self.prices)
    try await group.write(0, "INSERT INTO item VALUES (1, 0.05), (2, 1e18)")
    if oneByOne { try await group.update(0, to: 2) }
    try await group.update(0, to: 3)
    try await group.update(1, to: 3)
    try await group.exchange()
    for number in 0...1 {
      #expect(
        try await group.rows(number, "SELECT price, third FROM item WHERE id = 1") == [["5", "1.6666666666666667"]])
    }
    try await group.expectSame()
  }

  @Migrations.Builder private static func widened() -> [Migration] {
    Migration(1, "count") {
      $0.create("tally") {
        $0.column("id", Int.self)
        $0.column("seen", Int.self, default: 1)
      }
    }
    Migration(2, "next") {
      $0.alter("tally") {
        $0.add("seen", Int.self, default: 1)
        $0.add("next", Int.self, from: "seen", by: "seen + 1", default: 0)
      }
    }
  }

  @Test("a column that is there already is the one that a migration adds, when it is the same")
  func alreadyThere() async throws {
    let group = try await MigrationGroup([1, 1], Self.widened)
    try await group.write(0, "INSERT INTO tally (id, seen) VALUES (1, 4)")
    try await group.update(1, to: 2)
    try await group.exchange()
    try await group.update(0, to: 2)
    for number in 0...1 { #expect(try await group.rows(number, "SELECT seen, next FROM tally") == [[4, 5]]) }
    try await group.expectSame()
  }
}
