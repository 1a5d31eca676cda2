import Foundation
import Godwit
import Testing

@Suite("Local rows that refer to synced ones")
struct LocalRowTests {
  private static let models: [any Model.Type] = [Topic.self, Jotting.self, Scrap.self]

  private func group() async throws -> MergeGroup {
    let group = try await MergeGroup(2, models: Self.models)
    try await group.write(0, "INSERT INTO topic (id, name) VALUES ('a', 'first'), ('b', 'second')")
    try await group.exchange()
    try await group.write(
      1, "INSERT INTO draft (id, goes) VALUES ('g', 'a')", "INSERT INTO draft (id, empties) VALUES ('e', 'a')",
      "INSERT INTO draft (id, forbids, text) VALUES ('f', 'a', 'kept')",
      "INSERT INTO draft (id, goes) VALUES ('other', 'b')",
      "INSERT INTO scrap (id, draft) VALUES ('s', 'g'), ('t', 'other')")
    return group
  }

  private func local(_ group: MergeGroup) async throws -> [[Value]] {
    try await group[1].rows("SELECT id, goes, empties, forbids FROM draft ORDER BY id").map(\.values)
  }

  @Test("a delete that is imported does what each reference declares", arguments: [false, true])
  func imported(isMerged: Bool) async throws {
    let group = try await group()
    if isMerged { try await group.write(1, "INSERT INTO topic (id, name) VALUES ('c', 'third')") }
    try await group.write(0, "DELETE FROM topic WHERE id = 'a'")
    try await group.exchange()
    #expect(try await local(group) == [["e", .null, .null, .null], ["other", "b", .null, .null]])
    #expect(try await group[1].rows("SELECT id FROM scrap").map(\.values) == [["t"]])
    let limbo = try await group[1].history.limbo()
    #expect(limbo.map(\.key) == [["f"]])
    #expect(try await group[1].maintenance.verify().isSound)
    try await group.write(1, "INSERT INTO topic (id, name) VALUES ('a', 'again')")
    #expect(
      try await local(group)
        == [["e", .null, .null, .null], ["f", .null, .null, "a"], ["other", "b", .null, .null]])
    try await group.exchange()
  }

  @Test("a local row that is deleted while it waits, waits no more")
  func deletedWhileItWaits() async throws {
    let group = try await group()
    try await group.write(0, "INSERT INTO topic (id, name) VALUES ('x', 'same')")
    try await group.write(
      1, "INSERT INTO topic (id, name) VALUES ('y', 'same')", "INSERT INTO draft (id, empties) VALUES ('ye', 'y')")
    try await group.exchange()
    try await group.write(1, "DELETE FROM draft WHERE id = 'ye'")
    try await group.write(0, "UPDATE topic SET name = 'x' WHERE id = 'x'")
    try await group.exchange()
    for number in 0...1 { #expect(try await group[number].status().limbo == 0) }
  }

  @Test("local rows wait with a parent that goes into limbo, and come back with it")
  func limbo() async throws {
    let group = try await group()
    try await group.write(0, "INSERT INTO topic (id, name) VALUES ('x', 'same')")
    try await group.write(1, "INSERT INTO topic (id, name) VALUES ('y', 'same')")
    try await group.write(
      1, "INSERT INTO draft (id, goes) VALUES ('yg', 'y')", "INSERT INTO draft (id, empties) VALUES ('ye', 'y')",
      "INSERT INTO draft (id, forbids) VALUES ('yf', 'y')", "INSERT INTO scrap (id, draft) VALUES ('ys', 'yg')")
    try await group.exchange()
    let ids: SQL = """
      SELECT id, empties FROM draft WHERE id LIKE 'y%' UNION ALL SELECT id, 0 FROM scrap WHERE id LIKE 'y%' ORDER BY 1
      """
    #expect(try await group[1].rows(ids).map(\.values) == [["ye", .null]])
    try await group.write(0, "UPDATE topic SET name = 'x' WHERE id = 'x'")
    try await group.exchange()
    #expect(
      try await group[1].rows(ids).map(\.values)
        == [["ye", "y"], ["yf", .null], ["yg", .null], ["ys", 0]])
    #expect(try await group[1].history.limbo().isEmpty)
  }

  @Test("a local row that takes the key of one in limbo stands, and so does what is written to a hidden reference")
  func written() async throws {
    let group = try await group()
    try await group.write(0, "INSERT INTO topic (id, name) VALUES ('x', 'same')")
    try await group.write(1, "INSERT INTO topic (id, name) VALUES ('y', 'same')")
    try await group.write(
      1, "INSERT INTO draft (id, goes, text) VALUES ('yg', 'y', 'old')",
      "INSERT INTO draft (id, empties) VALUES ('ye', 'y')")
    try await group.exchange()
    try await group.write(
      1, "INSERT INTO draft (id, text) VALUES ('yg', 'new')", "UPDATE draft SET empties = 'b' WHERE id = 'ye'")
    try await group.write(0, "UPDATE topic SET name = 'x' WHERE id = 'x'")
    try await group.exchange()
    #expect(
      try await group[1].rows("SELECT id, goes, empties, text FROM draft WHERE id LIKE 'y%' ORDER BY id").map(\.values)
        == [["ye", .null, "b", ""], ["yg", .null, .null, "new"]])
    #expect(try await group[1].history.limbo().isEmpty)
  }

  @Test("a state file that replaces the synced rows leaves no local row dangling, and keeps those in limbo")
  func rejoining() async throws {
    let group = try await group()
    try await group.write(1, "INSERT INTO topic (id, name) VALUES ('own', 'of one')")
    try await group.exchange()
    try await group.write(1, "INSERT INTO draft (id, goes) VALUES ('o', 'own')")
    try await group.write(0, "DELETE FROM topic WHERE id IN ('a', 'own')")
    let file = group.folder.file("state")
    _ = try await group[0].exportState(to: .file(file))
    try await group.write(1, "UPDATE topic SET name = 'edited' WHERE id = 'b'")
    _ = try await group[1].rejoin(from: .file(file))
    #expect(try await group[1].maintenance.verify().isSound)
    #expect(try await local(group) == [["e", .null, .null, .null], ["other", "b", .null, .null]])
    try await group.write(1, "INSERT INTO topic (id, name) VALUES ('a', 'again')")
    #expect(try await local(group).count == 3)
  }

  @Test("a synced model that refers to a local one is refused when it is opened, and nothing is made")
  func syncedToLocal() async throws {
    let folder = try TemporaryFolder()
    let refusal = await error {
      try await Replica.open(at: folder.file("replica"), models: Jotting.self, Topic.self, Wrong.self)
    }
    #expect(refusal?.code == .invalidSchema)
    #expect(
      refusal?.message == "column draft of table wrong refers to table draft, which is not synced as table wrong is")
    #expect(refusal?.hint?.contains("let both travel, or neither") == true)
    let replica = try await Replica.open(at: folder.file("replica"), models: Jotting.self, Topic.self)
    #expect(await code { try await replica.rows("SELECT * FROM wrong") } != nil)
    await replica.close()
  }

  @Test("a file's table that refers to one that is local here is not made, and the rest of the file is taken in")
  func fileToLocal() async throws {
    let group = try await MergeGroup(2, models: [Elsewhere.self])
    try await group[1].tables.stopSync(of: "elsewhere")
    await group[0].close()
    let clock = group.clock
    let sender = try await ReplicaPair.open(group.folder.file("0"), [Elsewhere.self, Referring.self], clock)
    let file = group.folder.file("file")
    _ = try await sender.export(to: .file(file), includesAll: true)
    _ = try await group[1].import(from: .file(file))
    #expect(await code { try await group[1].rows("SELECT * FROM referring") } != nil)
    #expect(try await group[1].maintenance.verify().isSound)
    await sender.close()
  }
}

private struct Topic: Model {
  static let schema = Schema<Self>("topic") { Column("name", \.name).unique() }
  var id = ""
  var name = ""
}

private struct Jotting: Model {
  static let schema = Schema<Self>("draft", sync: .local) {
    Column("goes", \.goes).references(Topic.self, onDelete: .cascade)
    Column("empties", \.empties).references(Topic.self, onDelete: .setNull)
    Column("forbids", \.forbids).references(Topic.self, onDelete: .restrict)
    Column("text", \.text)
  }
  var id = ""
  var goes: String?
  var empties: String?
  var forbids: String?
  var text = ""
}

private struct Scrap: Model {
  static let schema = Schema<Self>("scrap", sync: .local) {
    Column("draft", \.draft).references(Jotting.self, onDelete: .cascade)
  }
  var id = ""
  var draft = ""
}

private struct Wrong: Model {
  static let schema = Schema<Self>("wrong") { Column("draft", \.draft).references(Jotting.self, onDelete: .cascade) }
  var id = ""
  var draft: String?
}

private struct Elsewhere: Model {
  static let schema = Schema<Self>("elsewhere") {}
  var id = ""
}

private struct Referring: Model {
  static let schema = Schema<Self>("referring") {
    Column("other", \.other).references(Elsewhere.self, onDelete: .cascade)
  }
  var id = ""
  var other: String?
}
