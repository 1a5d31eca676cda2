import Foundation
import Godwit
import Testing

private struct Flat: Model {
  static let schema = Schema<Self>("flat") { Column("street", \.street) }
  var id = ""
  var street = ""
}

/// A flat is let once at a time.
private struct Lease: Model {
  static let schema = Schema<Self>("lease") {
    Column("flat", \.flat).references(Flat.self, onDelete: .setNull).unique()
    Column("rent", \.rent)
  }
  var id = ""
  var flat: Flat.ID?
  var rent = 0
}

/// Found by `Tools/fuzz-arrival` (seed 700153): a hidden reference is NULL in its table, whose unique indexes do not
/// see what it claims. So both of two rows were shown where they came in two files, and one where they came in one.
@Suite("Claims of hidden references")
struct HiddenClaimTests {
  @Test("a hidden reference keeps its claim, whichever order rows come in")
  func keepsClaim() async throws {
    let group = try await MergeGroup(3, models: [Flat.self, Lease.self])
    try await group.write(0, "INSERT INTO flat (id) VALUES ('f')")
    try await group.exchange()
    try await group.write(0, "DELETE FROM flat WHERE id = 'f'")
    try await group.write(1, "INSERT INTO lease (id, flat) VALUES ('a', 'f')")
    try await group.write(2, "INSERT INTO lease (id, flat) VALUES ('b', 'f')")
    try await group.send(1, 0)
    try await group.send(2, 0)
    try await group.exchange()
    #expect(try await group.rows("SELECT id, flat FROM lease") == [["a", .null]])
    let limbo = try await group[0].history.limbo()
    #expect(limbo.map(\.key) == [["a"], ["b"]])
    #expect(limbo.map { $0.reasons.count } == [1, 2])

    try await group.write(2, "UPDATE lease SET rent = 9 WHERE id = 'a'")
    try await group.exchange()
    #expect(try await group.rows("SELECT id, flat, rent FROM lease") == [["a", .null, 9]])
    try await group.write(1, "INSERT INTO flat (id) VALUES ('f')")
    try await group.exchange()
    #expect(try await group.rows("SELECT id, flat FROM lease") == [["a", "f"]])
    try await group.write(0, "DELETE FROM lease WHERE id = 'a'")
    try await group.exchange()
    #expect(try await group.rows("SELECT id, flat FROM lease") == [["b", "f"]])
  }

  @Test("the lesser key takes the place of a hidden reference's")
  func lesserKey() async throws {
    let group = try await MergeGroup(3, models: [Flat.self, Lease.self])
    try await group.write(0, "INSERT INTO flat (id) VALUES ('f')")
    try await group.exchange()
    try await group.write(1, "INSERT INTO lease (id, flat) VALUES ('a', 'f')")
    try await group.write(2, "INSERT INTO lease (id, flat) VALUES ('b', 'f')")
    try await group.write(0, "DELETE FROM flat WHERE id = 'f'")
    try await group.send(2, 0)
    #expect(try await group[0].rows("SELECT id FROM lease").map(\.values) == [["b"]])
    try await group.send(1, 0)
    #expect(try await group[0].rows("SELECT id, flat FROM lease").map(\.values) == [["a", .null]])
    try await group.exchange()
    #expect(try await group.rows("SELECT id, flat FROM lease") == [["a", .null]])
    // A local write ends a hidden reference's claim: the next one has it.
    try await group.write(1, "INSERT INTO flat (id) VALUES ('g')", "UPDATE lease SET flat = 'g' WHERE id = 'a'")
    try await group.exchange()
    #expect(try await group.rows("SELECT id, flat FROM lease ORDER BY id") == [["a", "g"], ["b", .null]])
  }

  @Test("a claim with a hidden part changes by a local write to another part")
  func partOfClaim() async throws {
    let group = try await MergeGroup(3, models: [Directory.self])
    try await group.write(0, "INSERT INTO directory (id, name) VALUES ('a', 'a'), ('b', 'b')")
    try await group.exchange()
    try await group.write(0, "UPDATE directory SET parent = 'b' WHERE id = 'a'")
    try await group.write(1, "UPDATE directory SET parent = 'a' WHERE id = 'b'")
    try await group.exchange()
    let shown: SQL = "SELECT id, parent, name FROM directory ORDER BY id"
    #expect(try await group.rows(shown) == [["a", "b", "a"], ["b", .null, "b"]])

    // Written before the other's claim, and seen after it.
    try await group.write(0, "UPDATE directory SET name = 'c' WHERE id = 'b'")
    try await group.write(1, "INSERT INTO directory (id, parent, name) VALUES ('c', 'a', 'c')")
    try await group.exchange()
    #expect(try await group.rows(shown) == [["a", "b", "a"], ["b", .null, "c"]])
    // By a replica that shows no row with that claim.
    try await group.write(2, "INSERT INTO directory (id, parent, name) VALUES ('d', 'a', 'd')")
    try await group.write(2, "UPDATE directory SET name = 'd' WHERE id = 'b'")
    try await group.exchange()
    #expect(try await group.rows(shown) == [["a", "b", "a"], ["b", .null, "d"], ["c", "a", "c"]])
  }
}
