import Foundation
import Godwit
import Testing

@Suite("Queries of documents")
struct DocumentQueryTests {
  private let replica: Replica
  private let goods: Documents

  init() async throws {
    let replica = try await Replica.temporary()
    self.replica = replica
    let goods = replica.documents("goods")
    self.goods = goods
    try await replica.write { tx in
      try goods.in(tx).set(
        "apple", json: #"{"name":"Apple","price":3,"tags":["fruit","red"],"fresh":true,"date":"2026-01-02"}"#)
      try goods.in(tx).set(
        "beet", json: #"{"name":"beet","price":1.5,"tags":["root"],"fresh":"YES","date":"2026-01-01"}"#)
      try goods.in(tx).set(
        "coal", json: #"{"name":"Coal","price":"3","tags":"a fruitless text","fresh":0,"date":"2026-01-01"}"#)
      try goods.in(tx).set("date", json: #"{"name":"[date","price":9,"fresh":2}"#)
      try goods.in(tx).set("empty", json: "{}")
    }
  }

  @Test(
    "conditions as text choose documents",
    arguments: [
      ("price > 1.5", ["apple", "date"]), ("price >= 1.5 and price < 9", ["apple", "beet"]), ("price = 3", ["apple"]),
      ("price = '3'", ["coal"]), ("price <> 3", ["beet", "coal", "date"]),
      ("price != \"3\"", ["apple", "beet", "date"]),
      ("tags contains 'fruit'", ["apple", "coal"]), ("tags contains root", []),
      ("name contains 'e'", ["apple", "beet", "date"]),
      ("name = '[date'", ["date"]), ("name contains '['", ["date"]),
      ("name in ('Apple', 'Coal', 7)", ["apple", "coal"]),
      ("fresh = true", ["apple", "beet", "date"]), ("fresh = false", ["coal"]), ("fresh is null", ["empty"]),
      ("tags is not null AND NOT fresh = true", ["coal"]), ("missing = 1", []),
      ("not missing = 1 and price = 9", ["date"]),
      ("price = 3 or price = 9 and name = 'x'", ["apple"]), ("(price = 3 or price = 9) and tags is null", ["date"]),
      ("_key > 'c' and _key < 'd'", ["coal"]), ("name < 'Z'", ["apple", "coal"]),
      ("price = -3 or price = 9e0", ["date"]),
      ("\"na\"\"me\" is not null", []), ("name = 'it''s'", []), ("name contains '\u{1F3FD}'", []),
      ("name <> '\u{301}\u{200D}' and price = 9", ["date"]), ("name contains '%'", []), ("name contains 'A_p'", []),
      ("e\u{301}te\u{301} = 1 or a\u{200D}b = 1 or price = 9", ["date"]),
      ("price = 3\r\nand name = 'Apple'", ["apple"]),
    ])
  func text(condition: String, keys: [String]) async throws {
    if condition == "tags contains root" {
      await #expect(throws: GodwitError.self) { try await goods.keys(where: condition) }
    } else {
      #expect(try await goods.keys(where: condition) == keys)
      #expect(try await goods.count(where: condition) == keys.count)
    }
  }

  @Test("the builder says the same")
  func builder() async throws {
    #expect(try await goods.keys { $0.price > 1.5 } == ["apple", "date"])
    #expect(try await goods.keys { $0["price"] >= 1.5 && $0.price < 9 } == ["apple", "beet"])
    #expect(try await goods.keys { $0.tags.contains("red") || $0.name == "[date" } == ["apple", "date"])
    #expect(try await goods.keys { !$0.price.exists } == ["empty"])
    #expect(try await goods.keys { $0.name.isIn(["Apple", "Coal"]) } == ["apple", "coal"])
    #expect(try await goods.keys { $0.fresh == true && $0.documentKey != "apple" } == ["beet", "date"])
    #expect(try await goods.count { $0.price != 3 } == 3)
    let dear = try await replica.fetch(goods.where { $0.price > 2 }.order(by: .descending("price")).limit(1))
    #expect(dear.map(\.key) == ["date"] && dear[0]["name"] == "[date")
  }

  @Test("orders go by several members, up and down, and then by key")
  func orders() async throws {
    #expect(
      try await goods.keys(order: "date, name desc")
        == ["empty", "date", "beet", "coal", "apple"].sorted { a, b in
          let order = ["date": 0, "empty": 1, "beet": 2, "coal": 3, "apple": 4]
          return order[a] ?? 0 < order[b] ?? 0
        })
    #expect(try await goods.keys(where: "price > 0", order: "price desc") == ["date", "apple", "beet"])
    #expect(try await goods.keys(order: "_key desc").first == "empty")
    #expect(try await goods.keys(order: "missing, name asc").first == "empty")
    let page = try await replica.fetch(goods.all.order(by: "_key").limit(2).offset(3).keys)
    #expect(page == ["date", "empty"])
  }

  @Test(
    "what does not parse is an error that says where",
    arguments: [
      ("price >", 8), ("price > > 3", 9), ("(price = 1", 11), ("price = 'open", 9), ("= 3", 1), ("price = 3 7", 11),
      ("price ~ 3", 7), ("price in 3", 10), ("price is 3", 10), ("", 1),
    ])
  func malformed(condition: String, column: Int) async throws {
    let error = await #expect(throws: GodwitError.self) { try await goods.keys(where: condition) }
    #expect(error?.code == .invalidArgument)
    #expect(error?.message.hasSuffix("at column \(column)") == true, "\(error?.message ?? "")")
    await #expect(throws: GodwitError.self) { try await goods.keys(order: "name,, date") }
    // Also of a collection that is absent.
    let absent = replica.documents("absent")
    #expect(await code { try await absent.keys(where: condition) } == .invalidArgument)
    #expect(await code { try await absent.count(where: condition) } == .invalidArgument)
    #expect(await code { try await absent.delete(absent.where(condition)) } == .invalidArgument)
    #expect(try await absent.count(where: "price > 3") == 0)
    #expect(try await absent.delete(absent.where("price > 3")) == 0)
  }

  @Test("what a text contains is looked for byte by byte: no sign stands for others, and a mark is found by itself")
  func containedSigns() async throws {
    let notes = replica.documents("notes")
    try await notes.set("a", ["text": "100%", "tags": ["50%", "a_b"]])
    try await notes.set("b", ["text": "100 per cent", "tags": ["50", "aXb"]])
    try await notes.set("c", ["text": "a_b\\%", "tags": []])
    try await notes.set("d", ["text": "aXb \u{1F44D}\u{1F3FD} e\u{301}", "tags": ["\u{1F3FD}"]])
    let expected = [
      ("text contains '%'", ["a", "c"]), ("text contains '100%'", ["a"]), ("text contains 'a_b'", ["c"]),
      ("text contains '\\%'", ["c"]), ("tags contains '50%'", ["a"]), ("tags contains '%'", []),
      ("tags contains 'a_b'", ["a"]),
      ("text contains '\u{1F3FD}'", ["d"]), ("tags contains '\u{1F3FD}'", ["d"]), ("text contains '\u{301}'", ["d"]),
      ("text contains '*'", []), ("_key contains '%'", []),
    ]
    for (condition, keys) in expected { #expect(try await notes.keys(where: condition) == keys, "\(condition)") }
    #expect(try await notes.keys { $0.text.contains("_") } == ["c"])
  }

  @Test("documents come as JSON, as members and as a type of one's own, and are deleted by condition")
  func forms() async throws {
    struct Good: Codable, Equatable { var name: String; var fresh: Bool; var date: Date? }
    let apple = try #require(try await goods.get("apple", as: Good.self))
    #expect(apple == Good(name: "Apple", fresh: true, date: Date(timeIntervalSince1970: 1_767_312_000)))
    #expect(try await goods.get("beet", as: Good.self)?.fresh == true)
    #expect(try await goods.get("coal", as: Good.self)?.fresh == false)
    #expect(try await goods.get("date", as: Good.self)?.fresh == true)
    let error = await #expect(throws: GodwitError.self) { try await goods.get("empty", as: Good.self) }
    #expect(error?.code == .valueMismatch)
    struct Weight: Codable { var kilograms: Float }
    try await goods.set("earth", ["kilograms": 5.97e24])
    try await goods.set("universe", ["kilograms": 1.5e53])
    #expect(try await goods.get("earth", as: Weight.self)?.kilograms == 5.97e24)
    #expect(await code { _ = try await goods.get("universe", as: Weight.self) } == .valueMismatch)
    #expect(try await goods.delete(goods.where { $0.kilograms > 0 }) == 2)
    #expect(try await replica.fetch(goods.where("price = 9").json) == [#"{"fresh":2,"name":"[date","price":9}"#])
    #expect(try await goods.delete(goods.where { $0.price > 0 }) == 3)
    #expect(try await goods.keys() == ["coal", "empty"])
  }

  @Test("an observation shows writes, and a collection that was absent when it began")
  func observing() async throws {
    let fresh = replica.documents("later")
    var iterator = fresh.observe(where: "n > 1", order: "n").makeAsyncIterator()
    #expect(try await iterator.next()?.isEmpty == true)
    try await fresh.set("a", ["n": 2])
    #expect(try await iterator.next()?.map(\.key) == ["a"])
    try await fresh.set("b", ["n": 3])
    #expect(try await iterator.next()?.map(\.key) == ["a", "b"])
  }

  @Test("an order comes after those given before, and one that is none stays one")
  func orderAfterOrder() async throws {
    let pairs = replica.documents("pairs")
    for (key, a, b) in [("x", 1, 1), ("y", 1, 2), ("z", 2, 0)] {
      try await pairs.set(key, ["a": .integer(Int64(a)), "b": .integer(Int64(b))])
    }
    let both = pairs.all.order(by: "a desc").order(by: "b desc")
    #expect(try await replica.fetch(both.keys) == ["z", "y", "x"])
    #expect(
      try await replica.fetch(pairs.all.order(by: .ascending("a")).order(by: .descending("b")).keys) == ["y", "x", "z"])
    #expect(
      await code { try await replica.fetch(pairs.all.order(by: "a sideways").order(by: "b")) } == .invalidArgument)
  }

  @Test("a request shows its SQL, and a count has a limit's say")
  func sql() async throws {
    let request = goods.where { $0.price > 3 }.order(by: "name desc").limit(2)
    #expect(try request.sql.text.contains(" DESC, \"_key\" LIMIT ? OFFSET ?"))
    #expect(try await replica.count(goods.all.limit(2)) == 2)
    let conditions = [
      "price > 1.5", "tags contains 'fruit'", "fresh = true and not price = '3'", "name in ('Apple', 7) or price <= 2",
    ]
    for condition in conditions {
      let text = try goods.where(condition).sql
      let keys = try await replica.rows("SELECT _key AS k FROM (\(text))").compactMap { $0["k"] }
      let expected = try await goods.keys(where: condition)
      #expect(keys == expected.map { .text($0) } && !keys.isEmpty, "\(condition)")
      // A transaction's own statements, too.
      let count: SQL = "UPDATE documents_goods SET seen = 1 WHERE _key IN (SELECT _key FROM (\(text)))"
      let changed = try await replica.write { [goods] tx in
        try goods.in(tx).merge("apple", ["seen": 0])
        return try tx.execute(count)
      }
      #expect(changed == keys.count)
    }
    #expect(await code { try await replica.rows("SELECT godwit_insert(1)") } != nil)
  }

  @Test("documents are stepped through by one statement, whose sorting holds no documents")
  func stepping() async throws {
    let lines = StatementLines()
    let folder = try TemporaryFolder()
    let replica = try await Replica.open(
      at: folder.file("r"), configuration: .init(statements: .redacted, logger: lines.logger))
    let many = replica.documents("many")
    try await replica.write { tx in
      for number in 0..<50 { try many.in(tx).set("k\(number)", ["n": .integer(Int64(number % 5)), "t": "x"]) }
    }
    for request in [many.all, many.all.order(by: "n desc").limit(40)] {
      lines.clear()
      let keys = try await replica.read { stateFile in
        var keys: [String] = []
        try stateFile.forEach(request) { keys.append($0.key) }
        return keys
      }
      #expect(lines.all.count { $0.contains("ORDER BY") && $0.contains("documents_many") } == 1)
      #expect(try await keys == replica.fetch(request.keys))
    }
    #expect(lines.all.contains { $0.contains("SELECT \"_key\" FROM") })
    let plan = try await replica.rows(
      SQL(text: "EXPLAIN QUERY PLAN \(try many.all.sql.text)", values: many.all.sql.values))
    #expect(!plan.isEmpty && !plan.contains { "\($0.values)".contains("TEMP B-TREE") }, "\(plan)")
    await replica.close()
  }

  @Test("observed gives no result twice in a row, whatever other members there come to be")
  func distinct() async throws {
    let replica = try await Replica.temporary()
    let documents = replica.documents("d")
    try await documents.set("a", ["n": 1])
    var keys = replica.observe(documents.all.keys).makeAsyncIterator()
    var some = documents.observe(where: "n > 0").makeAsyncIterator()
    #expect(try await keys.next() == ["a"])
    #expect(try await some.next()?.map(\.json) == [#"{"n":1}"#])
    try await documents.merge("a", ["n": 2])
    try await documents.merge("a", ["n": 1])
    try await documents.set("b", ["new": 1])
    try await documents.set("c", ["n": 3])
    #expect(try await keys.next() == ["a", "b", "c"])
    #expect(try await some.next()?.map(\.json) == [#"{"n":1}"#, #"{"n":3}"#])
    await replica.close()
  }
}
