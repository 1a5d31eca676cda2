import Foundation
import Godwit
import Testing

@Suite("Hooks")
struct HookTests {
  private let pair: ReplicaPair
  private let trace = Trace()
  private static let insertion = ["willSave", "willInsert", "validation", "didInsert", "didSave"]
  private static let change = ["willSave", "willUpdate", "validation", "didUpdate", "didSave"]

  init() async throws {
    pair = try await ReplicaPair(
      models: [Traced.self, Audit.self, Chained.self, Hasty.self, Loaded.self, Order.self, Note.self, Folder.self])
  }

  private var replica: Replica { pair.sender }

  /// Whether the body is refused by a hook.
  private static func isRefused(_ body: () throws -> some Any) -> Bool {
    do {
      _ = try body()
      return false
    } catch { return error is Refusal }
  }

  private static func failure(of body: () throws -> Void) -> GodwitError.Code? {
    do { try body() } catch { return (error as? GodwitError)?.code }
    return nil
  }

  // MARK: Order

  @Test("an insert calls its hooks in order, with the rules between them")
  func insertOrder() async throws {
    let model = Traced(title: "A", trace: trace)
    try await replica.write { try $0.insert(model) }
    #expect(trace.all == Self.insertion)
  }

  @Test("an update calls its hooks in order, also when nothing differs")
  func updateOrder() async throws {
    let model = Traced(title: "A", trace: trace)
    let stored = try await replica.write { try $0.insert(model) }
    trace.clear()
    var same = stored
    same.saves = 0
    let unchanged = same
    #expect(try await replica.write { try $0.update(unchanged) } == false)
    #expect(trace.all == Self.change)
  }

  @Test("save calls the hooks of what it turns out to be")
  func saveOrder() async throws {
    let model = Traced(title: "A", trace: trace)
    try await replica.write { try $0.save(model) }
    #expect(trace.all == Self.insertion)
    trace.clear()
    let renamed = Traced(id: model.id, title: "B", trace: trace)
    try await replica.write { try $0.save(renamed) }
    #expect(trace.all == Self.change)
  }

  @Test("a delete calls its hooks on the stored row, by model or by key, and none when there is no row")
  func deleteOrder() async throws {
    let (first, second) = (Traced(title: "A"), Traced(title: "B"))
    try await replica.write { transaction in
      try transaction.insert([first, second])
      _ = try transaction.execute("DELETE FROM audit")
    }
    let deleted = try await replica.write { transaction in
      [
        try transaction.delete(Traced(id: first.id, title: "stale")), try transaction.delete(first),
        try transaction.delete(Traced.self, key: second.id), try transaction.delete(Traced.self, key: second.id),
      ]
    }
    #expect(deleted == [true, false, true, false])
    let texts = try await replica.fetch(Audit.order(by: \.id)).map(\.text)
    #expect(texts == ["willDelete A", "didDelete A", "willDelete B", "didDelete B"])
    #expect(try await replica.count(Traced.all) == 0)
  }

  @Test("when a hook has deleted the row already, delete finds none")
  func hasty() async throws {
    let model = Hasty()
    try await replica.write { try $0.insert(model) }
    #expect(try await replica.write { try $0.delete(model) } == false)
    #expect(try await replica.count(Hasty.all) == 0)
  }

  // MARK: Changes

  @Test("what hooks change is judged, stored, returned and sent")
  func changes() async throws {
    let model = Traced(title: "Title")
    // Without the hook the empty slug would be refused.
    let returned = try await replica.write { try $0.insert(model) }
    #expect(returned.slug == "title" && returned.saves == 1)
    try await pair.expectSame()
    let received = try #require(try await pair.receiver.fetch(Traced.self, key: model.id))
    #expect(received.slug == "title" && received.saves == 1)
  }

  @Test("hooks work in a long run of inserts as in single ones")
  func run() async throws {
    try await replica.write { transaction in
      for number in 0..<150 { try transaction.insert(Traced(title: "T\(number)")) }
    }
    #expect(try await replica.count(Traced.where { $0.slug.hasPrefix("t") }) == 150)
    #expect(try await replica.count(Audit.all) == 600)
    try await pair.expectSame()
  }

  // MARK: Refusals

  @Test(
    "a hook that throws refuses an insert with all that its hooks did, and the transaction continues",
    arguments: ["willSave", "willInsert", "didInsert", "didSave"])
  func refusedInsert(hook: String) async throws {
    let refused = try await replica.write { transaction in
      let refused = [
        Self.isRefused { try transaction.insert(Traced(title: "refused by \(hook)")) },
        Self.isRefused { try transaction.save(Traced(title: "refused by \(hook)")) },
      ]
      try transaction.insert(Audit(text: "after"))
      return refused
    }
    #expect(refused == [true, true])
    #expect(try await replica.count(Traced.all) == 0)
    #expect(try await replica.fetch(Audit.all).map(\.text) == ["after"])
    #expect(try await replica.latestCounts() == ChangeCounts(1))
    try await pair.expectSame()
  }

  @Test("refusals in a long run of inserts leave nothing of the refused rows, here and at the receiver")
  func refusedInRun() async throws {
    let refused = try await replica.write { transaction in
      (0..<150).filter { number in
        Self.isRefused { try transaction.insert(Traced(title: number % 3 == 2 ? "refused by didSave" : "kept")) }
      }
    }
    #expect(refused == Array(stride(from: 2, to: 150, by: 3)))
    #expect(try await replica.count(Traced.all) == 100)
    #expect(try await replica.latestCounts() == ChangeCounts(500))
    try await pair.expectSame()
  }

  @Test("a hook that throws refuses an update", arguments: ["willSave", "willUpdate", "didUpdate", "didSave"])
  func refusedUpdate(hook: String) async throws {
    let model = Traced(title: "A")
    try await replica.write { try $0.insert(model) }
    let refused = try await replica.write { transaction in
      let changed = Traced(id: model.id, title: "refused by \(hook)")
      return [
        Self.isRefused { try transaction.update(changed) }, Self.isRefused { try transaction.save(changed) },
        Self.isRefused { try transaction.save(changed, merging: [\.title]) },
      ]
    }
    #expect(refused == [true, true, true])
    #expect(try await replica.fetch(Traced.all).map(\.title) == ["A"])
    #expect(try await replica.history.log().count == 1)
  }

  @Test("a hook that throws refuses a delete", arguments: ["willDelete", "didDelete"])
  func refusedDelete(hook: String) async throws {
    let model = Traced(title: "refused by \(hook)")
    try await replica.write { try $0.insert(model) }
    let before = try await replica.count(Audit.all)
    let refused = try await replica.write { transaction in Self.isRefused { try transaction.delete(model) } }
    #expect(refused)
    #expect(try await replica.count(Traced.all) == 1)
    #expect(try await replica.count(Audit.all) == before)
  }

  @Test("what a hook made of collections and triggers goes with it when it throws, and the transaction continues")
  func madeAndTakenBack() async throws {
    let replica = try await Replica.inMemory(models: Doubtful.self, Audit.self)
    let documents = replica.documents("fresh")
    Doubtful.documents.withLock { $0 = documents }
    try await replica.write { tx in
      try tx.execute("CREATE TRIGGER own AFTER INSERT ON audit BEGIN DELETE FROM audit WHERE text = 'goes'; END")
    }
    try await replica.write { tx in
      #expect(throws: GodwitError.self) { try tx.insert(Doubtful()) }
      try documents.in(tx).set("b", ["other": 2])
      for number in 0..<100 { try tx.insert(Audit(text: number == 99 ? "goes" : "stays")) }
    }
    #expect(try await documents.get("b") != nil)
    #expect(try await documents.get("a") == nil)
    #expect(try await replica.count(Audit.all) == 99)
    await replica.close()
  }

  @Test("what the rules refuse takes back what will-hooks wrote, and calls no did-hook")
  func invalid() async throws {
    let model = Traced(title: "invalid", trace: trace)
    let refused = try await replica.write { transaction in violations { try transaction.insert(model) } }
    #expect(refused == ["must pass"])
    #expect(trace.all == ["willSave", "willInsert", "validation"])
    #expect(try await replica.history.log().isEmpty)
    #expect(try await pair.carry().applied.transactions == 0)
  }

  @Test("a key that is taken and an update of no row take back what hooks wrote, and the transaction continues")
  func constraint() async throws {
    let model = Traced(title: "A")
    try await replica.write { try $0.insert(model) }
    let codes = try await replica.write { transaction in
      [{ _ = try transaction.insert(model) }, { _ = try transaction.update(Traced(title: "B")) }].map(Self.failure)
    }
    #expect(codes == [.constraint, .notFound])
    #expect(try await replica.count(Audit.all) == 4)
    #expect(try await replica.history.log().count == 1)
  }

  // MARK: Depth

  @Test("hooks may write rows whose hooks write, to a depth of 64")
  func depth() async throws {
    try await replica.write { try $0.insert(Chained(left: 63)) }
    #expect(try await replica.count(Chained.all) == 64)
    try await pair.expectSame()
  }

  @Test("one level more is an error of its own, takes everything back, and the transaction continues")
  func tooDeep() async throws {
    let failure = try await replica.write { transaction in
      var failure: GodwitError.Code?
      do { try transaction.insert(Chained(left: 64)) } catch { failure = (error as? GodwitError)?.code }
      try transaction.insert(Chained(left: 1))
      return failure
    }
    #expect(failure == .hooksTooDeep)
    #expect(try await replica.count(Chained.all) == 2)
    try await pair.expectSame()
  }

  @Test("a delete hook that deletes its own row ends there too")
  func endlessDelete() async throws {
    let model = try await replica.write { try $0.insert(Chained()) }
    #expect(await code { try await replica.write { try $0.delete(model) } } == .hooksTooDeep)
    #expect(try await replica.count(Chained.all) == 1)
  }

  // MARK: Loading

  @Test("didLoad follows every fetch, in a state file and in a transaction")
  func didLoad() async throws {
    let model = Traced(title: "A")
    try await replica.write { try $0.insert([model, Traced(title: "B")]) }
    #expect(try await replica.fetch(Traced.order(by: \.title)).map(\.display) == ["A/a", "B/b"])
    #expect(try await replica.fetch(Traced.self, key: model.id)?.display == "A/a")
    #expect(try await replica.first(Traced.order(by: \.title))?.display == "A/a")
    let inside = try await replica.write { try $0.fetch(Traced.self, key: model.id)?.display }
    #expect(inside == "A/a")
  }

  @Test("didLoad follows a join for each model in it")
  func didLoadJoined() async throws {
    try await replica.write { transaction in
      try transaction.insert(Traced(title: "row one"))
      try transaction.insert(Loaded(id: "1", text: "row one"))
    }
    let pairs = try await replica.fetch(Traced.join(Loaded.self) { $0.title == $1.text })
    #expect(pairs.map(\.0.display) == ["row one/row one"])
    #expect(pairs.map(\.1.words) == [["row", "one"]])
  }

  @Test("a model may listen to loading alone")
  func loadAlone() async throws {
    try await replica.write { transaction in
      for number in 0..<100 { try transaction.insert(Loaded(id: "\(number)", text: "row \(number)")) }
    }
    let loaded = try await replica.fetch(Loaded.all)
    #expect(loaded.count == 100 && loaded.allSatisfy { $0.words == ["row", $0.id] })
  }

  // MARK: Merging properties, and many at once

  @Test("merging writes the listed properties onto the stored row and leaves the others")
  func merging() async throws {
    let note = Note(title: "title", body: "body", views: 1)
    let changed = Note(id: note.id, title: "new", body: nil, views: 9)
    try await replica.write { try $0.insert(note) }
    #expect(try await replica.write { try $0.save(changed, merging: [\.title, \.body]) })
    #expect(try await replica.write { try $0.save(changed, merging: [\.title, \.body]) } == false)
    #expect(try await replica.write { try $0.save(changed, merging: []) } == false)
    let stored = try #require(try await replica.fetch(Note.self, key: note.id))
    #expect(stored.title == "new" && stored.body == nil && stored.views == 1)
    try await pair.expectSame()
  }

  @Test("merging inserts the whole model when its key is new")
  func mergingNew() async throws {
    let note = Note(title: "title", views: 7)
    #expect(try await replica.write { try $0.save(note, merging: [\.title]) })
    #expect(try await replica.fetch(Note.self, key: note.id)?.views == 7)
    let traced = Traced(title: "A", trace: trace)
    #expect(try await replica.write { try $0.save(traced, merging: [\.title]) })
    #expect(trace.all == Self.insertion)
  }

  @Test("merging a property that is no column is notInSchema")
  func mergingUnknown() async throws {
    #expect(
      await code { try await replica.write { try $0.save(Note(), merging: [\.title, \.isSelected]) } } == .notInSchema)
    #expect(
      await code { try await replica.write { try $0.save(Traced(title: "A"), merging: [\.display]) } } == .notInSchema)
    #expect(try await replica.history.log().isEmpty)
  }

  @Test("merging leaves a stored value alone that the model would write otherwise")
  func mergingKeepsForm() async throws {
    try await replica.write { transaction in
      try transaction.insert(Order())
      _ = try transaction.execute("UPDATE \(name: "order") SET labels = '[ \"spaced\" ]'")
      let order = try transaction.fetch(Order.all)[0]
      try transaction.save(Order(id: order.id, title: "new"), merging: [\.title])
    }
    let row = try #require(try await replica.rows("SELECT title, labels FROM \(name: "order")").first)
    #expect(row.values == [.text("new"), .text("[ \"spaced\" ]")])
  }

  @Test("merging calls update hooks on the merged row and writes what they change")
  func mergingHooks() async throws {
    let model = Traced(title: "A")
    try await replica.write { try $0.insert(model) }
    let partial = Traced(id: model.id, title: "NEW", slug: "ignored", saves: 100)
    #expect(try await replica.write { try $0.save(partial, merging: [\.title]) })
    let stored = try #require(try await replica.fetch(Traced.self, key: model.id))
    #expect(stored.title == "NEW" && stored.slug == "new" && stored.saves == 2)
    try await pair.expectSame()
  }

  @Test("update, save and delete of many say how many there were")
  func many() async throws {
    let notes = (0..<5).map { Note(title: "\($0)") }
    var changed = notes
    changed[1].views = 1
    changed[3].views = 3
    let later = changed
    let counts = try await replica.write { transaction in
      [
        try transaction.save(Array(notes.prefix(3))), try transaction.save(notes), try transaction.update(later),
        try transaction.delete(notes + [Note()]), try transaction.delete(notes), try transaction.save([Note]()),
      ]
    }
    #expect(counts == [3, 2, 2, 5, 0, 0])
    #expect(await code { try await replica.write { try $0.update([Note()]) } } == .notFound)
  }
}

/// A hook that takes no notice of having rolled everything back.
private struct Careless: ModelHooks {
  static let schema = Schema<Self>("careless") { Column("title", \.title) }
  var id = 0
  var title = ""

  func willInsert(_ transaction: Transaction) throws {
    _ = try? transaction.execute("INSERT OR ROLLBACK INTO careless VALUES (1, 'again')")
  }
}

@Suite("A hook that rolls everything back")
struct CarelessHookTests {
  @Test("ends the write, and no row is written behind it")
  func rolledBack() async throws {
    let replica = try await Replica.temporary(models: Careless.self)
    try await replica.write { try $0.execute("INSERT INTO careless VALUES (1, 'one')") }
    #expect(
      await code { try await replica.write { _ = try $0.insert(Careless(id: 2, title: "two")) } } == .transactionEnded)
    #expect(try await replica.fetch(Careless.all).map(\.id) == [1])
    #expect(try await replica.maintenance.verify().isSound)
    await replica.close()
  }
}
