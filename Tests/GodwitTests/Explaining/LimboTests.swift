import Godwit
import Testing

@Suite("Rows in limbo")
struct LimboTests {
  @Test("are listed with their values, what they wait for, who holds it and who wrote it")
  func uniqueValue() async throws {
    let group = try await MergeGroup()
    try await group.write(0, "INSERT INTO account (id, email, plan) VALUES ('a', 'x', 'old')")
    try await group.write(1, "INSERT INTO account (id, email, plan) VALUES ('b', 'x', 'new')")
    #expect(try await group[0].history.limbo().isEmpty)
    try await group.exchange()
    for replica in group.replicas {
      let row = try #require(try await replica.history.limbo().first)
      #expect(row.table == "account" && row.key == ["b"] && !row.isShown && row.hiddenReferences.isEmpty)
      #expect(row.values["plan"] == "new" && row.values["email"] == "x")
      #expect(row.reasons.map(\.kind) == [.uniqueValue(columns: ["email"], values: ["x"], holder: ["a"])])
      #expect(row.reasons.first?.author?.replica == group[1].identity.replica)
      #expect(try await replica.status().limbo == 1)
    }
    try await group.write(0, "DELETE FROM account WHERE id = 'a'")
    #expect(try await group[0].history.limbo().isEmpty)
    #expect(try await group[0].status().limbo == 0)
  }

  @Test(
    "that lack parents name them, and so do those that wait for them in turn; a reference that shows NULL is listed")
  func parents() async throws {
    let group = try await MergeGroup()
    try await group.write(0, "INSERT INTO shelf (id) VALUES ('s')")
    try await group.exchange()
    try await group.write(0, "DELETE FROM shelf")
    try await group.write(
      1, "INSERT INTO volume (id, shelf) VALUES ('v', 's')", "INSERT INTO volume (id, lent) VALUES ('w', 's')",
      "INSERT INTO leaf (id, volume) VALUES ('l', 'v')")
    try await group.exchange()
    let rows = try await group[0].history.limbo()
    #expect(rows.map(\.key) == [["v"], ["w"], ["l"]])
    #expect(rows[0].reasons.map(\.kind) == [.missingParent(column: "shelf", table: "shelf", key: "s")])
    #expect(rows[1].isShown && rows[1].hiddenReferences == ["lent"] && rows[1].values["lent"] == "s")
    #expect(rows[1].reasons.map(\.kind) == [.missingParent(column: "lent", table: "shelf", key: "s")])
    #expect(rows[2].reasons.map(\.kind) == [.missingParent(column: "volume", table: "volume", key: "v")])
    #expect(try await group[0].history.limbo(limit: 1).count == 1)
    #expect(await code { try await group[0].history.limbo(limit: -1) } == .invalidArgument)
  }

  @Test("a move that closed a circle is listed with the parent it would have")
  func circle() async throws {
    let group = try await MergeGroup()
    try await group.write(0, "INSERT INTO branch (id) VALUES ('a')", "INSERT INTO branch (id) VALUES ('b')")
    try await group.exchange()
    try await group.write(0, "UPDATE branch SET parent = 'b' WHERE id = 'a'")
    try await group.write(1, "UPDATE branch SET parent = 'a' WHERE id = 'b'")
    try await group.exchange()
    let row = try #require(try await group[0].history.limbo().first)
    #expect(row.key == ["b"] && row.values["parent"] == "a")
    #expect(row.reasons.map(\.kind) == [.circle(column: "parent")])
  }

  /// Two replicas of one group, of which the second has a check that the first has not.
  private func unequal(_ folder: TemporaryFolder) async throws -> (loose: Replica, strict: Replica) {
    let clock = TestClock()
    let loose = try await ReplicaPair.open(folder.file("loose"), [Bookcase.self, LooseItem.self], clock)
    let identity = try await Replica.identity(at: folder.file("strict"))
    try await loose.members.invite(
      identity, name: "strict", verification: .trustOnFirstUse, to: .file(folder.file("invitation")))
    let joined = try await Replica.join(
      at: folder.file("strict"), invitation: .file(folder.file("invitation")), inviter: .trustOnFirstUse)
    await joined.close()
    return (loose, try await ReplicaPair.open(folder.file("strict"), [Bookcase.self, StrictItem.self], clock))
  }

  @Test("a row that breaks a constraint here does not hold up the return of its parent")
  func constraintAndParent() async throws {
    let folder = try TemporaryFolder()
    let (loose, strict) = try await unequal(folder)
    try await strict.write { try $0.insert(StrictItem(id: "own", price: 1)) }
    try await loose.write { try $0.insert(Bookcase(id: "s")) }
    try await loose.write { try $0.insert(LooseItem(id: "free", price: 0, shelf: "s")) }
    _ = try await loose.export(to: .file(folder.file("file")))
    _ = try await strict.import(from: .file(folder.file("file")))
    try await strict.write { _ = try $0.execute("DELETE FROM shelf") }
    let lacking = try #require(try await strict.history.limbo().first)
    #expect(lacking.reasons.map(\.kind) == [.missingParent(column: "shelf", table: "shelf", key: "s")])
    try await strict.write { try $0.insert(Bookcase(id: "s", name: "again")) }
    #expect(try await strict.history.limbo().first?.reasons.map(\.kind) == [.constraint])
    #expect(try await strict.rows("SELECT id FROM item").map(\.values) == [["own"]])
  }

  @Test("a row that breaks a constraint of this replica alone is listed, and an edit that keeps it releases it")
  func constraint() async throws {
    let folder = try TemporaryFolder()
    let (loose, strict) = try await unequal(folder)
    func carry() async throws -> MergeReport {
      _ = try await loose.export(to: .file(folder.file("file")), includesAll: true)
      return try await strict.import(from: .file(folder.file("file")))
    }
    try await strict.write { try $0.insert(StrictItem(id: "own", price: 1)) }
    try await loose.write { try $0.insert(LooseItem(id: "free", price: 0)) }

    #expect(try await carry().attention.conflicts == 1)
    #expect(try await strict.rows("SELECT id FROM item").map(\.values) == [["own"]])
    let row = try #require(try await strict.history.limbo().first)
    #expect(row.reasons.map(\.kind) == [.constraint] && row.values["price"] == 0)
    let conflict = try #require(try await strict.conflicts.list().first)
    #expect(conflict.kind == .constraint)
    #expect(await code { try await strict.conflicts.restore(conflict.id) } == .inLimbo)

    try await loose.write { _ = try $0.execute("UPDATE item SET price = 5") }
    _ = try await carry()
    #expect(
      try await strict.rows("SELECT id, price FROM item ORDER BY id").map(\.values) == [["free", 5], ["own", 1]])
    #expect(try await strict.history.limbo().isEmpty)
  }
}

private struct LooseItem: Model {
  static let schema = Schema<Self>("item") {
    Column("price", \.price)
    Column("shelf", \.shelf).references(Bookcase.self, onDelete: .cascade)
  }
  var id = ""
  var price = 0
  var shelf: String?
}

private struct StrictItem: Model {
  static let schema = Schema<Self>("item") {
    Column("price", \.price).check("price > 0")
    Column("shelf", \.shelf).references(Bookcase.self, onDelete: .cascade)
  }
  var id = ""
  var price = 1
  var shelf: String?
}
