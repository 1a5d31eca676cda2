import Foundation
import Godwit
import Testing

/// A tree whose folders go with their parents, or forbid those to go.
private struct Drawer: Model {
  static let schema = Schema<Self>("folder") {
    Column("code", \.code).unique()
    Column("within", \.within).references(Drawer.self, onDelete: .cascade, acyclic: true)
    Column("under", \.under).references(Drawer.self, onDelete: .restrict, acyclic: true)
  }
  var id = ""
  var code: String?
  var within: String?
  var under: String?
}

@Suite("Circles of references")
struct CircleTests {
  @Test(
    "a reference that a circle hid is judged anew when a row of the circle is deleted", arguments: ["within", "under"])
  func deleted(column: String) async throws {
    let group = try await MergeGroup(3, models: [Drawer.self])
    func write(_ replica: Int, _ sql: String) async throws { try await group.write(replica, SQL(text: sql)) }
    try await group.write(0, "INSERT INTO folder (id) VALUES ('y'), ('z')")
    try await group.exchange()
    try await write(0, "UPDATE folder SET \(column) = 'y' WHERE id = 'z'")
    try await write(1, "UPDATE folder SET \(column) = 'z' WHERE id = 'y'")
    for (sender, receiver) in [(0, 1), (1, 0)] { try await group.send(sender, receiver) }
    #expect(try await group[0].rows(SQL(text: "SELECT id FROM folder WHERE \(column) = 'z'")).count == 1)
    try await group.write(0, "DELETE FROM folder WHERE id = 'y'")
    try await group.exchange()
    #expect(try await group.rows("SELECT id FROM folder").isEmpty)
    for number in 0...2 { #expect(try await group[number].history.limbo().map(\.key) == [["z"]]) }
  }

  @Test("a row that waits for another which comes to wait for it is shown, its reference hidden")
  func waitingForEachOther() async throws {
    let group = try await MergeGroup(3, models: [Drawer.self])
    try await group.write(0, "INSERT INTO folder (id) VALUES ('b'), ('c')")
    try await group.exchange()
    try await group.write(0, "INSERT INTO folder (id, code) VALUES ('a', 'k')")
    try await group.write(1, "UPDATE folder SET code = 'k' WHERE id = 'b'")
    try await group.write(1, "UPDATE folder SET within = 'b' WHERE id = 'c'")
    try await group.send(1, 0)
    #expect(try await group[0].history.limbo().map(\.key) == [["b"], ["c"]])
    // By one who has not seen that one wait for the other.
    try await group.write(2, "UPDATE folder SET within = 'c' WHERE id = 'b'")
    try await group.exchange()
    #expect(try await group.rows("SELECT id, within FROM folder ORDER BY id") == [["a", .null], ["c", .null]])
  }

  @Test("a circle that a table's start to travel closes is opened on who starts it, too")
  func started() async throws {
    let group = try await MergeGroup(2, models: [Drawer.self])
    try await group.write(0, "INSERT INTO folder (id) VALUES ('a'), ('b')")
    try await group.exchange()
    try await group[0].tables.stopSync(of: "folder")
    try await group.write(0, "UPDATE folder SET within = 'b' WHERE id = 'a'")
    try await group.write(1, "UPDATE folder SET within = 'a' WHERE id = 'b'")
    try await group.send(1, 0)
    _ = try await group[0].tables.startSync(of: "folder")
    try await group.exchange()
    #expect(try await group.rows("SELECT id, within FROM folder ORDER BY id") == [["a", "b"], ["b", .null]])
  }

  @Test("a row that waits in limbo closes circles, and opens them, on every replica alike")
  func waiting() async throws {
    let group = try await MergeGroup(3, models: [Thing.self, Remark.self])
    try await group.write(0, "INSERT INTO thing (id) VALUES ('b'), ('c'), ('d')")
    try await group.exchange()
    try await group.write(0, "INSERT INTO thing (id, code) VALUES ('a', 'k')")
    try await group.write(1, "UPDATE thing SET code = 'k' WHERE id = 'b'")
    let first = group.folder.file("first")
    _ = try await group[1].export(to: .file(first), includesAll: true)
    try await group.write(2, "UPDATE thing SET parent = 'b' WHERE id = 'c'")
    try await group.write(1, "UPDATE thing SET parent = 'd' WHERE id = 'b'")
    try await group.write(2, "UPDATE thing SET parent = 'c' WHERE id = 'd'")
    _ = try await group[0].import(from: .file(first))
    try await group.send(2, 0)
    try await group.send(1, 0)
    try await group.send(1, 2)
    try await group.exchange()
    #expect(
      try await group.rows("SELECT id, parent FROM thing WHERE parent IS NULL ORDER BY id")
        == [["a", .null], ["c", .null], ["d", .null]])
  }
}
