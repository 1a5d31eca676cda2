import Foundation
import Godwit
import Testing

private struct ListItem: Model {
  static let schema = Schema<Self>("item") {
    Column("text", \.text)
    Column("real", \.real)
    Column("large", \.large)
    Column("maybe", \.maybe)
  }
  var id = 0
  var text = ""
  var real = 0.0
  var large: UInt64 = 0
  var maybe: Int?
}

@Suite("A list of values of any length")
struct LongListTests {
  private let replica: Replica
  private let items: [ListItem]

  init() async throws {
    replica = try await Replica.temporary(models: ListItem.self)
    items = (0..<6_000).map { number in
      ListItem(
        id: number, text: "text \(number)\0", real: number.isMultiple(of: 2) ? Double(number) : Double(number) + 0.1,
        large: number.isMultiple(of: 3) ? .max - UInt64(number) : UInt64(number),
        maybe: number.isMultiple(of: 5) ? nil : number)
    }
    let items = items
    try await replica.write { try $0.insert(items) }
  }

  private func expect(
    _ query: Query<ListItem>, finds condition: (ListItem) -> Bool, at location: SourceLocation = #_sourceLocation
  ) async throws {
    let wanted = items.filter(condition).map(\.id)
    #expect(try await replica.fetch(query.order(by: \.id)).map(\.id) == wanted, sourceLocation: location)
    #expect(try await replica.count(query) == wanted.count, sourceLocation: location)
  }

  @Test("finds what Swift finds", arguments: [1, 999, 1_000, 5_000])
  func lengths(count: Int) async throws {
    var generator = SystemRandomNumberGenerator()
    let numbers = (0..<count).map { _ in Int.random(in: -1_000..<8_000, using: &generator) }
    let known = Set(numbers)
    try await expect(ListItem.where { $0.id.isIn(numbers) }) { known.contains($0.id) }
    try await expect(ListItem.where { !$0.id.isIn(numbers) }) { !known.contains($0.id) }
    try await expect(ListItem.where { $0.maybe.isIn(numbers) }) { $0.maybe.map(known.contains) ?? false }
    try await expect(ListItem.where { $0.maybe.isNotIn(numbers) }) { !($0.maybe.map(known.contains) ?? false) }
    try await expect(ListItem.where { $0.maybe.isIn(numbers.map(Optional.some) + [nil]) }) {
      $0.maybe.map(known.contains) ?? true
    }
    let texts = Set(numbers.map { "text \($0)\0" })
    try await expect(ListItem.where { $0.text.isIn(texts) }) { texts.contains($0.text) }
    let reals = Set(numbers.flatMap { [Double($0), Double($0) + 0.1] })
    try await expect(ListItem.where { $0.real.isIn(reals) }) { reals.contains($0.real) }
    let large = Set(items.prefix(count).map(\.large))
    try await expect(ListItem.where { $0.large.isIn(large) }) { large.contains($0.large) }
  }

  @Test("stands beside others in one statement, and in a predicate of Foundation's")
  func several() async throws {
    let (first, second, third) = (Array(0..<800), Array(700..<1_500), Array(0..<3_000))
    try await expect(ListItem.where { $0.id.isIn(first) && $0.maybe.isIn(second) && $0.id.isIn(third) }) {
      (700..<800).contains($0.id) && $0.maybe != nil
    }
    let predicate = #Predicate<ListItem> { third.contains($0.id) && $0.id > 2_990 }
    try await expect(ListItem.where(predicate)) { (2_991..<3_000).contains($0.id) }
  }

  @Test("serves updates and deletes")
  func writes() async throws {
    let numbers = Array(0..<2_000)
    let replica = replica
    #expect(
      try await replica.write { try $0.update(ListItem.where { $0.id.isIn(numbers) }) { $0.text = "same" } } == 2_000)
    #expect(try await replica.write { try $0.delete(ListItem.where { $0.id.isNotIn(numbers) }) } == 4_000)
    #expect(try await replica.count(ListItem.where { $0.text == "same" }) == 2_000)
  }

  @Test("is bound value by value while a statement has room for them")
  func sql() throws {
    #expect(
      try ListItem.where { $0.id.isIn([1, 2]) }.select { $0.id }.sql.text
        == #"SELECT `id` FROM "item" WHERE `id` IN (?, ?)"#)
    let long = try ListItem.where { $0.id.isIn(Array(0..<1_000)) }.select { $0.id }.sql
    #expect(long.text.contains("godwit_is_in(`id`, ?, ?)") && long.values.count == 2)
  }

  @Test("lists beside other values, and many lists, have room as far as a statement has; beyond that is limitExceeded")
  func besideOthers() async throws {
    func compared(_ count: Int) -> Query<ListItem> {
      ListItem.where { fields in
        fields.id.isIn(Array(0..<900)) && (0..<count).map { fields.id == $0 }.reduce(fields.id == 1) { $0 || $1 }
      }
    }
    #expect(try await replica.count(compared(300)) == 300)
    #expect(try await replica.fetch(compared(300)).count == 300)
    #expect(await code { try await replica.fetch(compared(1_000)) } == .limitExceeded)
    let lists = ListItem.where { fields in
      (0..<40).map { start in fields.id.isIn((0..<1_000).map { $0 * 40 + start }) }.reduce(fields.id == -1) { $0 || $1 }
    }
    #expect(try await replica.count(lists) == 6_000)
    #expect(try await replica.write { try $0.delete(compared(300)) } == 300)
  }
}
