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
      try goods.set("apple", json: #"{"name":"Apple","price":3,"tags":["fruit","red"],"fresh":true,"date":"2026-01-02"}"#, in: tx)
      try goods.set("beet", json: #"{"name":"beet","price":1.5,"tags":["root"],"fresh":"YES","date":"2026-01-01"}"#, in: tx)
      try goods.set("coal", json: #"{"name":"Coal","price":"3","tags":"a fruitless text","fresh":0,"date":"2026-01-01"}"#, in: tx)
      try goods.set("date", json: #"{"name":"[date","price":9,"fresh":2}"#, in: tx)
      try goods.set("empty", json: "{}", in: tx)
    }
  }

  @Test(
    "conditions as text choose documents",
    arguments: [
      ("price > 1.5", ["apple", "date"]), ("price >= 1.5 and price < 9", ["apple", "beet"]), ("price = 3", ["apple"]),
      ("price = '3'", ["coal"]), ("price <> 3", ["beet", "coal", "date"]), ("price != \"3\"", ["apple", "beet", "date"]),
      ("tags contains 'fruit'", ["apple", "coal"]), ("tags contains root", []), ("name contains 'e'", ["apple", "beet", "date"]),
      ("name = '[date'", ["date"]), ("name contains '['", ["date"]), ("name in ('Apple', 'Coal', 7)", ["apple", "coal"]),
      ("fresh = true", ["apple", "beet", "date"]), ("fresh = false", ["coal"]), ("fresh is null", ["empty"]),
      ("tags is not null AND NOT fresh = true", ["coal"]), ("missing = 1", []), ("not missing = 1 and price = 9", ["date"]),
      ("price = 3 or price = 9 and name = 'x'", ["apple"]), ("(price = 3 or price = 9) and tags is null", ["date"]),
      ("_key > 'c' and _key < 'd'", ["coal"]), ("name < 'Z'", ["apple", "coal"]), ("price = -3 or price = 9e0", ["date"]),
      ("\"na\"\"me\" is not null", []), ("name = 'it''s'", []),
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
    #expect(try await goods.keys(order: "date, name desc") == ["empty", "date", "beet", "coal", "apple"].sorted { a, b in
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
    #expect(try await replica.fetch(goods.where("price = 9").json) == [#"{"fresh":2,"name":"[date","price":9}"#])
    #expect(try await goods.delete(goods.where { $0.price > 0 }) == 3)
    #expect(try await goods.keys() == ["coal", "empty"])
  }

  @Test("an observation tells of writes, and of a collection that was absent when it began")
  func observing() async throws {
    let fresh = replica.documents("later")
    var iterator = fresh.observe(where: "n > 1", order: "n").makeAsyncIterator()
    #expect(try await iterator.next()?.isEmpty == true)
    try await fresh.set("a", ["n": 2])
    #expect(try await iterator.next()?.map(\.key) == ["a"])
    try await fresh.set("b", ["n": 3])
    #expect(try await iterator.next()?.map(\.key) == ["a", "b"])
  }

  @Test("a request shows its SQL, and a count has a limit's say")
  func sql() async throws {
    let request = goods.where { $0.price > 3 }.order(by: "name desc").limit(2)
    #expect(try request.sql.text.contains(" DESC, \"_key\" LIMIT ? OFFSET ?"))
    #expect(try await replica.count(goods.all.limit(2)) == 2)
  }
}
