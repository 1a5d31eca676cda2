import Foundation
import Godwit
import Testing

@Suite("Objects as documents")
struct DocumentObjectTests {
  struct Line: Codable, Equatable, Sendable { var what: String; var amount: Decimal }
  enum Mood: String, Codable, Sendable { case good, bad }

  struct Order: DocumentObject, Equatable {
    static let collection = "Orders"
    static let mergedMembers: [Document.Member] = [.counter("views")]
    var key: String
    var lines: [Line] = []
    var placed: Date
    var paid: Date?
    var mood = Mood.good
    var isOpen = true
    var views = 0
    var site: URL?
    var tags: [String: [Int]] = [:]
    var image: Data?
    var id: UUID
  }

  private let replica: Replica
  private let orders: Documents.Objects<Order>

  init() async throws {
    replica = try await Replica.temporary()
    orders = replica.documents(of: Order.self)
  }

  private func order(_ key: String) -> Order {
    Order(
      key: key, lines: [Line(what: "tea", amount: Decimal(string: "12.5") ?? 0), Line(what: "", amount: 3)],
      placed: Date(timeIntervalSince1970: 1_772_366_400.125), mood: .bad, views: 3,
      site: URL(string: "https://example.org/a?b"), tags: ["x": [1, 2], "y": []], image: Data([0, 255]), id: UUID())
  }

  @Test("an object comes back as it was, nested values, arrays, dates and all")
  func roundTrip() async throws {
    var order = order("o1")
    try await orders.save(order)
    #expect(try await orders.get("o1") == order)
    #expect(try await orders.get("none") == nil)
    order.isOpen = false
    order.lines.removeLast()
    order.site = nil
    try await orders.save(order)
    #expect(try await orders.get("o1") == order)
    let closed = orders.where("isOpen = false and placed > '2026-01-01'")
    #expect(try await replica.fetch(closed) == [order])
    #expect(try await orders.delete(order))
    #expect(try await !orders.delete(order))
  }

  @Test("a decimal keeps all its digits, as a number where a double has them and as a text where not")
  func decimals() async throws {
    struct Sum: DocumentObject, Equatable {
      static let collection = "sums"
      var key: String
      var amount: Decimal
      var parts: [Decimal] = []
      var count = UInt64(0)
      var ratio = 0.1
    }
    let digits = ["0.12345678901234567891234567890123456789", "-98765432109876543210.5", "1e30", "9223372036854775808"]
    let long = Sum(
      key: "long", amount: try #require(Decimal(string: digits[0])), parts: digits.compactMap { Decimal(string: $0) },
      count: .max, ratio: 1 / 3)
    let short = Sum(
      key: "12345678901234567890", amount: try #require(Decimal(string: "1234567.89")), parts: [0, -3, 0.5])
    let sums = replica.documents(of: Sum.self)
    for sum in [long, short] {
      try await sums.save(sum)
      #expect(try await sums.get(sum.key) == sum)
    }
    let found = try await replica.documents("sums").get("long")
    #expect(
      found?["amount"] == .string(digits[0]) && found?["count"] == "18446744073709551615"
        && found?["ratio"] == .real(1 / 3))
    let stored = try await replica.documents("sums").get("12345678901234567890")
    #expect(stored?["amount"] == 1_234_567.89 && stored?["parts"] == [0, -3, 0.5])
    #expect(await code { try await sums.save(Sum(key: "k", amount: .nan)) } == .valueNotStorable)
  }

  @Test("saving anew without an expiry takes that away; the collection gives it to a caller who means to keep it")
  func expiry() async throws {
    let instant = Date(timeIntervalSinceNow: 3_600)
    try await orders.save(order("o1"), expires: instant)
    var loaded = try #require(try await orders.get("o1"))
    loaded.mood = .good
    try await orders.save(loaded, expires: try await orders.documents.expiry(of: "o1"))
    #expect(try await orders.documents.expiry(of: "o1") != nil)
    try await orders.save(loaded)
    #expect(try await orders.documents.expiry(of: "o1") == nil)
  }

  @Test("a transaction has the same functions, and undoes what they did when it fails")
  func inside() async throws {
    let (kept, gone) = (order("o1"), order("o2"))
    try await replica.write { [orders] tx in
      let orders = orders.in(tx)
      try orders.save(kept, expires: Date(timeIntervalSinceNow: 3_600))
      try orders.save(gone)
      #expect(try orders.delete(gone) && orders.get("o2") == nil && orders.get("o1") == kept)
      #expect(try orders.documents.expiry(of: "o1") != nil && orders.documents.keys() == ["o1"])
      #expect(try orders.documents.count(where: "views = 3") == 1)
      #expect(try orders.documents.count(where: { $0.views > 3 }) == 0)
      #expect(try tx.fetch(orders.all) == [kept])
      #expect(try tx.count(orders.where { $0.views == 3 }) == 1 && tx.count(orders.documents.where("views > 3")) == 0)
    }
    let failure = await code {
      try await replica.write { [orders] tx in
        try orders.in(tx).delete(kept)
        throw GodwitError(.invalidArgument, "no")
      }
    }
    #expect(failure == .invalidArgument)
    let after = try await replica.read { [orders] in try orders.in($0).get("o1") }
    #expect(after == kept)
  }

  @Test("saving writes the members that differ, and no others")
  func differences() async throws {
    var order = order("o1")
    try await orders.save(order)
    try await orders.save(order)
    order.mood = .good
    try await orders.save(order)
    let log = try await replica.history.log(limit: 10)
    #expect(log.count == 2)
  }

  @Test("objects are observed, as all are or as a condition chooses them")
  func observing() async throws {
    var iterator = replica.observe(orders.where { $0.views > 2 }).makeAsyncIterator()
    #expect(try await iterator.next() == [])
    let order = order("o1")
    try await orders.save(order)
    #expect(try await iterator.next() == [order])
  }
}
