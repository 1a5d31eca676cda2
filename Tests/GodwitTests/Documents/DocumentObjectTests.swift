import Foundation
import Godwit
import Testing

@Suite("Objects as documents")
struct DocumentObjectTests {
  struct Line: Codable, Equatable, Sendable { var what: String; var amount: Decimal }
  enum Mood: String, Codable, Sendable { case good, bad }

  struct Order: DocumentObject, Equatable {
    static let collection = "Orders"
    static let mergedMembers: [DocumentMember] = [.counter("views")]
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

  init() async throws { replica = try await Replica.temporary() }

  private func order(_ key: String) -> Order {
    Order(
      key: key, lines: [Line(what: "tea", amount: Decimal(string: "12.5") ?? 0), Line(what: "", amount: 3)],
      placed: Date(timeIntervalSince1970: 1_772_366_400.125), mood: .bad, views: 3,
      site: URL(string: "https://example.org/a?b"), tags: ["x": [1, 2], "y": []], image: Data([0, 255]), id: UUID())
  }

  @Test("an object comes back as it was, nested values, arrays, dates and all")
  func roundTrip() async throws {
    var order = order("o1")
    try await replica.save(order)
    #expect(try await replica.load(Order.self, key: "o1") == order)
    #expect(try await replica.load(Order.self, key: "none") == nil)
    order.isOpen = false
    order.lines.removeLast()
    order.site = nil
    try await replica.save(order)
    #expect(try await replica.load(Order.self, key: "o1") == order)
    #expect(try await replica.fetch(replica.objects(Order.self, where: "isOpen = false and placed > '2026-01-01'")) == [order])
    #expect(try await replica.delete(order))
    #expect(try await !replica.delete(order))
  }

  @Test("saving writes the members that differ, and no others")
  func differences() async throws {
    var order = order("o1")
    try await replica.save(order)
    try await replica.save(order)
    order.mood = .good
    try await replica.save(order)
    let log = try await replica.log(limit: 10)
    #expect(log.count == 2)
  }

  @Test("objects are observed, as all are or as a condition chooses them")
  func observing() async throws {
    var iterator = replica.observe(Order.self, where: "views > 2").makeAsyncIterator()
    #expect(try await iterator.next() == [])
    let order = order("o1")
    try await replica.save(order)
    #expect(try await iterator.next() == [order])
  }
}
